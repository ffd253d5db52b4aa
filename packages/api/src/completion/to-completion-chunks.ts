// Engine events of all prompts -> the chunks of a streamed completion. Chunks of several choices are interleaved as
// they come; each one but the last has exactly one choice and every key.

import type { Engine, TokenUsage } from '@ortler/engine';
import type { CompletionChunk, CompletionRequest, Usage } from '@ortler/schemas';
import { readUsageMode } from '../chat/to-chat-chunks.ts';
import { toUsage } from '../chat/to-usage.ts';
import { toStopReason } from '../to-stop-reason.ts';
import { CompletionChoiceWriter } from './completion-choice-writer.ts';
import type { CompletionEvents, CompletionHeader } from './start-completion.ts';
import { addUsage, NO_USAGE } from './sum-usage.ts';

interface OpenChoice {
  readonly writer: CompletionChoiceWriter;
  readonly promptTokenIds: readonly number[];
  isFirst: boolean;
  completionTokenCount: number;
}

/** Chunks in order, and one with the token counts of all prompts when they were asked for. */
export async function* toCompletionChunks(
  header: CompletionHeader,
  events: CompletionEvents,
  { engine, request }: { readonly engine: Pick<Engine, 'decode'>; readonly request: CompletionRequest },
): AsyncGenerator<CompletionChunk, void, undefined> {
  const withIds = request.return_token_ids === true;
  const usageMode = readUsageMode(request.stream_options);
  const choices: OpenChoice[] = [];
  let total: TokenUsage = NO_USAGE;
  for await (const { index: promptIndex, value: event } of events) {
    if (event.kind === 'prompt-ready') {
      const { promptTokenIds } = event;
      const prompt = { given: request.prompt[promptIndex]!, ready: event };
      for (let choiceIndex = 0; choiceIndex < request.n; choiceIndex++)
        choices[promptIndex * request.n + choiceIndex] = {
          writer: new CompletionChoiceWriter(request, prompt, engine),
          promptTokenIds,
          isFirst: true,
          completionTokenCount: 0,
        };
    } else if (event.kind === 'request-finish') {
      total = addUsage(total, event.usage);
    } else {
      const index = promptIndex * request.n + event.choiceIndex;
      const choice = choices[index]!;
      const isEnd = event.kind === 'choice-finish';
      const showsPrompt = withIds && choice.isFirst;
      choice.isFirst = false;
      choice.completionTokenCount += event.tokenIds.length;
      yield {
        ...header,
        choices: [
          {
            index,
            ...choice.writer.write(event),
            finish_reason: isEnd ? event.finishReason : null,
            stop_reason: isEnd ? toStopReason(event) : null,
            prompt_token_ids: showsPrompt ? [...choice.promptTokenIds] : null,
            token_ids: withIds ? [...event.tokenIds] : null,
          },
        ],
        usage: usageMode === 'every-chunk' ? runningUsage(choice) : null,
      };
    }
  }
  if (usageMode === 'none') return;
  const details = { prompt_tokens_details: { cached_tokens: total.cachedTokenCount } };
  yield { ...header, choices: [], usage: { ...toUsage(total), ...details } };
}

/** The counts of one choice so far. */
function runningUsage({ promptTokenIds, completionTokenCount }: OpenChoice): Usage {
  return toUsage({ promptTokenCount: promptTokenIds.length, completionTokenCount });
}
