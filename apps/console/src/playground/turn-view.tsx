// One turn of a conversation: a message, or an answer with its tokens, reasoning and tool calls. Text is shown as text;
// nothing that a model writes becomes HTML.

import { memo, useState } from 'react';
import { copyText } from '../components/copy-text.ts';
import { sameItems } from '../components/same-items.ts';
import { Badge } from '../components/ui/badge.tsx';
import { Button } from '../components/ui/button.tsx';
import { Textarea } from '../components/ui/input.tsx';
import { type AnswerFormat, isWholeJson } from './answer-format.ts';
import type { Answer } from './answer-reader.ts';
import type { Turn } from './conversation.ts';
import { HeatMap } from './heat-map.tsx';
import { PlainText } from './plain-text.tsx';
import { perplexityOf } from './probability.ts';

interface TurnViewProps {
  readonly turn: Turn;
  readonly siblings: readonly Turn[];
  readonly showHeat: boolean;
  /** That answers were asked to have. */
  readonly format: AnswerFormat;
  readonly selectedToken: number | null;
  readonly isBusy: boolean;
  readonly actions: TurnActions;
}

/** What is done with a turn. */
export interface TurnActions {
  readonly selectToken: (turn: Turn, index: number | null, pinned: boolean) => void;
  readonly showBranch: (id: string) => void;
  /** Adds the edited message as a branch. */
  readonly edit: (turn: Turn, text: string) => void;
  readonly regenerate: (turn: Turn) => void;
  readonly remove: (turn: Turn) => void;
  /** Opens or closes the panel that keeps the answer. */
  readonly keep: (turn: Turn) => void;
}

/** Rendered again only where it changed: another turn streams, or the pointer selects tokens. */
export const TurnView = memo(
  ShownTurn,
  ({ siblings: before, ...left }, { siblings: after, ...right }) =>
    sameItems(Object.values(left), Object.values(right)) && sameItems(before, after),
);

function ShownTurn(props: TurnViewProps) {
  const { turn, siblings, format, isBusy, actions } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const isWhole = turn.answer === undefined ? null : isWholeJson(format, turn.content);
  const name = turn.role === 'assistant' ? (turn.answer?.model ?? 'assistant') : turn.role;
  return (
    <article aria-label={`${turn.role} message`} className="group border-b px-4 py-2.5">
      <header className="mb-1 flex min-h-7 flex-wrap items-center gap-1 text-xs text-muted">
        <h3 className="mr-1 min-w-0 font-semibold wrap-anywhere text-foreground">
          {name === '' ? 'assistant' : name}
        </h3>
        {siblings.length > 1 && <BranchSwitch siblings={siblings} id={turn.id} onShow={actions.showBranch} />}
        {turn.answer !== undefined && (
          <span className="flex flex-wrap items-center gap-x-2">
            <AnswerFacts answer={turn.answer} />
          </span>
        )}
        {isWhole !== null && (
          <Badge tone={isWhole ? 'good' : 'plain'}>{isWhole ? 'JSON' : 'JSON is open'}</Badge>
        )}
        <span className="flex-1" />
        {turn.role !== 'assistant' && draft === null && (
          <Button variant="ghost" size="sm" disabled={isBusy} onClick={() => setDraft(turn.content)}>
            Edit
          </Button>
        )}
        {turn.role === 'assistant' && (
          <Button variant="ghost" size="sm" disabled={isBusy} onClick={() => actions.regenerate(turn)}>
            Regenerate
          </Button>
        )}
        {turn.answer !== undefined && (
          <Button variant="ghost" size="sm" disabled={isBusy} onClick={() => actions.keep(turn)}>
            Keep
          </Button>
        )}
        <Button variant="ghost" size="sm" onClick={() => void copyText(turn.content)}>
          Copy
        </Button>
        <Button variant="ghost" size="sm" disabled={isBusy} onClick={() => actions.remove(turn)}>
          Delete
        </Button>
      </header>
      {draft === null ? (
        <TurnContent {...props} />
      ) : (
        <form
          className="flex flex-col gap-2"
          onSubmit={event => {
            event.preventDefault();
            setDraft(null);
            actions.edit(turn, draft);
          }}
        >
          <Textarea
            aria-label="Edited message"
            rows={4}
            value={draft}
            autoFocus
            onChange={({ target }) => setDraft(target.value)}
          />
          <div className="flex gap-2">
            <Button type="submit" variant="default" size="sm">
              Send as a new branch
            </Button>
            <Button size="sm" onClick={() => setDraft(null)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
    </article>
  );
}

/** What screen readers are told. */
const STATUS: Readonly<Record<Answer['phase'], string>> = {
  waiting: 'The answer is being written.',
  streaming: 'The answer is being written.',
  done: 'The answer is complete.',
  stopped: 'The answer was stopped.',
  failed: 'The answer failed.',
};

function TurnContent({ turn, showHeat, selectedToken, actions }: TurnViewProps) {
  const { answer } = turn;
  if (answer === undefined) return <PlainText text={turn.content} />;
  const hasHeat = showHeat && answer.tokens.length > 0;
  const isOpen = answer.phase === 'waiting' || answer.phase === 'streaming';
  const firstAnswerToken = answer.tokens.findIndex(({ part }) => part !== 'reasoning');
  const split = firstAnswerToken === -1 ? answer.tokens.length : firstAnswerToken;
  const heatMap = (part: 'Reasoning' | 'Answer', from: number, to: number) => (
    <HeatMap
      label={`${part} tokens`}
      tokens={answer.tokens.slice(from, to)}
      selected={
        selectedToken !== null && selectedToken >= from && selectedToken < to ? selectedToken - from : null
      }
      onSelect={(index, pinned) => actions.selectToken(turn, index === null ? null : index + from, pinned)}
    />
  );
  return (
    <div className="flex flex-col gap-2">
      {answer.reasoning !== '' && (
        <details open className="rounded-sm border-l-2 border-input pl-3">
          <summary className="text-xs text-muted">Reasoning</summary>
          {hasHeat ? (
            heatMap('Reasoning', 0, split)
          ) : (
            <PlainText text={answer.reasoning} className="text-muted" />
          )}
        </details>
      )}
      {hasHeat ? (
        heatMap('Answer', split, answer.tokens.length)
      ) : (
        <PlainText text={answer.content} isOpen={isOpen} />
      )}
      {answer.toolCalls.map(call => (
        <div key={call.id} className="rounded-sm border px-3 py-1.5 font-mono text-xs">
          <span className="font-semibold wrap-anywhere">{call.name}</span>
          <pre className="wrap-anywhere whitespace-pre-wrap text-muted">{call.arguments}</pre>
        </div>
      ))}
      {answer.error !== null && (
        <p role="alert" className="text-sm wrap-anywhere text-danger">
          {answer.error}
        </p>
      )}
      <p role="status" className="sr-only">
        {STATUS[answer.phase]}
      </p>
    </div>
  );
}

function BranchSwitch({
  siblings,
  id,
  onShow,
}: {
  readonly siblings: readonly Turn[];
  readonly id: string;
  readonly onShow: (id: string) => void;
}) {
  const index = siblings.findIndex(turn => turn.id === id);
  const step = (by: number, label: string, sign: string) => {
    const target = siblings[index + by];
    return (
      <Button
        variant="ghost"
        size="icon"
        className="size-6"
        aria-label={label}
        disabled={target === undefined}
        onClick={() => target !== undefined && onShow(target.id)}
      >
        {sign}
      </Button>
    );
  };
  return (
    <span className="flex items-center">
      {step(-1, 'Previous branch', '‹')}
      <span>
        {index + 1}/{siblings.length}
      </span>
      {step(1, 'Next branch', '›')}
    </span>
  );
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 9_950 ? 2 : 0)} s`;

function AnswerFacts({ answer }: { readonly answer: Answer }) {
  const { phase, usage, firstTokenMs, durationMs, finishReason, tokens } = answer;
  const count = usage?.completion_tokens ?? tokens.length;
  const decodeMs = durationMs !== null && firstTokenMs !== null ? durationMs - firstTokenMs : null;
  const perplexity = perplexityOf(tokens);
  return (
    <>
      {phase === 'stopped' && <Badge tone="warning">stopped</Badge>}
      {phase === 'failed' && <Badge tone="danger">failed</Badge>}
      {finishReason !== null && finishReason !== 'stop' && <Badge tone="warning">{finishReason}</Badge>}
      {usage !== null && (
        <span title="Prompt tokens, and those found in the prefix cache">
          {usage.prompt_tokens} in
          {(usage.prompt_tokens_details?.cached_tokens ?? 0) > 0 &&
            ` (${usage.prompt_tokens_details?.cached_tokens} cached)`}
        </span>
      )}
      {count > 0 && <span>{count} out</span>}
      {firstTokenMs !== null && <span title="Time to first token">first {seconds(firstTokenMs)}</span>}
      {decodeMs !== null && decodeMs > 0 && count > 1 && (
        <span>{(((count - 1) * 1000) / decodeMs).toFixed(1)} tokens/s</span>
      )}
      {perplexity !== null && phase !== 'streaming' && (
        <span title="Exponential of the mean negative log probability">
          perplexity {perplexity.toFixed(2)}
        </span>
      )}
    </>
  );
}
