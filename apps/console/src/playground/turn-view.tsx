// One turn of a conversation: a message, or an answer with its tokens, reasoning and tool calls. Text is shown as text;
// nothing that a model writes becomes HTML.

import { type ReactNode, useState } from 'react';
import { copyText } from '../components/copy-text.ts';
import { Badge } from '../components/ui/badge.tsx';
import { Button } from '../components/ui/button.tsx';
import { Textarea } from '../components/ui/input.tsx';
import type { Answer } from './answer-reader.ts';
import type { Turn } from './conversation.ts';
import { HeatMap } from './heat-map.tsx';
import { perplexityOf } from './probability.ts';

interface TurnViewProps {
  readonly turn: Turn;
  readonly siblings: readonly Turn[];
  readonly showHeat: boolean;
  /** Whether it is a whole JSON value; null where that is not asked. */
  readonly isWhole: boolean | null;
  readonly selectedToken: number | null;
  readonly isBusy: boolean;
  readonly onSelectToken: (index: number | null, pinned: boolean) => void;
  readonly onShowBranch: (id: string) => void;
  /** Adds the edited message as a branch. */
  readonly onEdit: (text: string) => void;
  readonly onRegenerate: () => void;
  readonly onRemove: () => void;
  /** More buttons, at the end. */
  readonly actions?: ReactNode;
}

export function TurnView(props: TurnViewProps) {
  const { turn, siblings, isBusy, onEdit, onRegenerate, onRemove, onShowBranch } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const name = turn.role === 'assistant' ? (turn.answer?.model ?? 'assistant') : turn.role;
  return (
    <article aria-label={`${turn.role} message`} className="group border-b px-4 py-2.5">
      <header className="mb-1 flex min-h-7 flex-wrap items-center gap-1 text-xs text-muted">
        <h3 className="mr-1 font-semibold text-foreground">{name === '' ? 'assistant' : name}</h3>
        {siblings.length > 1 && <BranchSwitch siblings={siblings} id={turn.id} onShow={onShowBranch} />}
        {turn.answer !== undefined && <AnswerFacts answer={turn.answer} />}
        {props.isWhole !== null && (
          <Badge tone={props.isWhole ? 'good' : 'plain'}>{props.isWhole ? 'JSON' : 'JSON is open'}</Badge>
        )}
        <span className="flex-1" />
        {turn.role !== 'assistant' && draft === null && (
          <Button variant="ghost" size="sm" disabled={isBusy} onClick={() => setDraft(turn.content)}>
            Edit
          </Button>
        )}
        {turn.role === 'assistant' && (
          <Button variant="ghost" size="sm" disabled={isBusy} onClick={onRegenerate}>
            Regenerate
          </Button>
        )}
        {props.actions}
        <Button variant="ghost" size="sm" onClick={() => void copyText(turn.content)}>
          Copy
        </Button>
        <Button variant="ghost" size="sm" disabled={isBusy} onClick={onRemove}>
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
            onEdit(draft);
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

function TurnContent({ turn, showHeat, selectedToken, onSelectToken }: TurnViewProps) {
  const { answer } = turn;
  if (answer === undefined)
    return (
      <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
        {turn.content}
      </p>
    );
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
      onSelect={(index, pinned) => onSelectToken(index === null ? null : index + from, pinned)}
      className={part === 'Reasoning' ? 'text-muted' : ''}
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
            <p dir="auto" className="wrap-anywhere whitespace-pre-wrap text-muted">
              {answer.reasoning}
            </p>
          )}
        </details>
      )}
      {hasHeat ? (
        heatMap('Answer', split, answer.tokens.length)
      ) : (
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {answer.content}
          {isOpen && (
            <span className="caret text-accent" aria-hidden="true">
              ▍
            </span>
          )}
        </p>
      )}
      {answer.toolCalls.map(call => (
        <div key={call.id} className="rounded-sm border px-3 py-1.5 font-mono text-xs">
          <span className="font-semibold">{call.name}</span>
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
