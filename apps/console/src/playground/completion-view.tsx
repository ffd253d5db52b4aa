// The completion of a text, without a chat template. The prompt's own tokens can be shown with their probabilities, too.

import { FailureNotice } from '../components/notice.tsx';
import { Button } from '../components/ui/button.tsx';
import { Textarea } from '../components/ui/input.tsx';
import type { Answer, Candidate } from './answer-reader.ts';
import { CandidateList } from './candidate-list.tsx';
import { canForkAt } from './continue-from.ts';
import { HeatMap } from './heat-map.tsx';
import { PlainText } from './plain-text.tsx';
import type { Settings } from './saved-playground.ts';
import { useTokenSelection } from './token-selection.ts';
import { useCompletion } from './use-completion.ts';

interface CompletionViewProps {
  readonly settings: Settings;
  readonly obstacle: string | null;
}

export function CompletionView({ settings, obstacle }: CompletionViewProps) {
  const completion = useCompletion(settings);
  const { prompt, answers, isRunning, promptTokens, shownPrompt } = completion;
  const tokens = useTokenSelection();
  const index = tokens.selection?.index ?? 0;
  const isInPrompt = tokens.selection?.owner === 'prompt';
  const answer = answers.find((_, choice) => tokens.selection?.owner === ownerOf(choice)) ?? null;
  const shown = isInPrompt ? shownPrompt : answer;
  const isForkable = isInPrompt ? index > 0 : answer !== null && canForkAt(answer, index);
  const take = (candidate: Candidate) => {
    tokens.clear();
    if (isInPrompt) void completion.continuePrompt(index, candidate);
    else if (answer !== null) void completion.continueAnswer(answer, index, candidate);
  };
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="min-h-24 flex-1 overflow-auto p-4">
        <Textarea
          aria-label="Prompt"
          placeholder="Text to continue"
          rows={6}
          className="font-mono"
          value={prompt}
          onChange={({ target }) => completion.setPrompt(target.value)}
        />
        <div className="my-2 flex flex-wrap gap-2">
          {isRunning ? (
            <Button onClick={completion.stop}>Stop</Button>
          ) : (
            <Button
              variant="default"
              disabled={prompt === '' || obstacle !== null}
              title={obstacle ?? undefined}
              onClick={() => void completion.complete()}
            >
              Continue the text
            </Button>
          )}
          <Button
            disabled={prompt === '' || promptTokens.isPending}
            onClick={() => {
              tokens.clear();
              promptTokens.mutate();
            }}
          >
            Probabilities of the prompt
          </Button>
        </div>
        {promptTokens.isError && <FailureNotice error={promptTokens.error} className="px-0" />}
        {shownPrompt !== undefined && (
          <section aria-label="Prompt" className="mb-3 border-t pt-2">
            <h2 className="text-xs text-muted">Prompt: {shownPrompt.tokens.length} tokens</h2>
            <HeatMap
              label="Prompt tokens"
              tokens={shownPrompt.tokens}
              selected={tokens.indexIn('prompt')}
              onSelect={(at, pinned) => tokens.select('prompt', at, pinned)}
              className="font-mono"
            />
          </section>
        )}
        {answers.map((each, choice) => (
          <CompletionAnswer
            key={ownerOf(choice)}
            answer={each}
            owner={ownerOf(choice)}
            title={answers.length === 1 ? 'Completion' : `Completion ${choice + 1} of ${answers.length}`}
            showHeat={settings.showHeat}
            tokens={tokens}
          />
        ))}
      </div>
      {(settings.showHeat || shownPrompt !== undefined) && (
        <CandidateList
          token={(tokens.selection === null ? null : shown?.tokens[index]) ?? null}
          position={index + 1}
          reason={isInPrompt && index === 0 ? 'The first token of a prompt has no probability.' : ''}
          onTake={isForkable && !isRunning && obstacle === null ? take : null}
        />
      )}
    </div>
  );
}

/** Owner of the selected token. */
const ownerOf = (choice: number) => `answer ${choice}`;

interface CompletionAnswerProps {
  readonly answer: Answer;
  readonly owner: string;
  readonly title: string;
  readonly showHeat: boolean;
  readonly tokens: ReturnType<typeof useTokenSelection>;
}

function CompletionAnswer({ answer, owner, title, showHeat, tokens }: CompletionAnswerProps) {
  return (
    <section aria-label={title} className="border-t pt-2">
      <h2 className="text-xs text-muted">
        {title}
        {answer.usage !== null && `: ${answer.usage.completion_tokens} tokens`}
        {answer.finishReason !== null && `, ended by ${answer.finishReason}`}
      </h2>
      {showHeat && answer.tokens.length > 0 ? (
        <HeatMap
          label="Answer tokens"
          tokens={answer.tokens}
          selected={tokens.indexIn(owner)}
          onSelect={(at, pinned) => tokens.select(owner, at, pinned)}
          className="font-mono"
        />
      ) : (
        <PlainText text={answer.content} className="font-mono" />
      )}
      {answer.error !== null && (
        <p role="alert" className="text-sm wrap-anywhere text-danger">
          {answer.error}
        </p>
      )}
    </section>
  );
}
