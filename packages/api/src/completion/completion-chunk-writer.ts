// Engine events of all prompts -> the chunks of a streamed completion. Chunks of several choices are interleaved as
// they come; each one but the last has exactly one choice and every key.

import type { Engine, PromptReadyEvent, TokenDeltaEvent, TokenUsage } from '@ortler/engine';
import type { CompletionChunk, CompletionRequest, Usage } from '@ortler/schemas';
import { readUsageMode, toUsage, toWholeUsage } from '../generation/to-usage.ts';
import { CompletionChoiceWriter } from './completion-choice-writer.ts';
import type { CompletionHeader, PromptEvent } from './start-completion.ts';
import { addUsage, NO_USAGE } from './sum-usage.ts';

interface OpenChoice {
  readonly writer: CompletionChoiceWriter;
  readonly promptTokenIds: readonly number[];
  isFirst: boolean;
  completionTokenCount: number;
}

/** Chunks in order, and at the end one with the token counts of all prompts when they were asked for. */
export class CompletionChunkWriter {
  readonly #header: CompletionHeader;
  readonly #request: CompletionRequest;
  readonly #engine: Pick<Engine, 'decode'>;
  readonly #usageMode: ReturnType<typeof readUsageMode>;
  readonly #choices: OpenChoice[] = [];
  #openPromptCount: number;
  #total: TokenUsage = NO_USAGE;

  constructor(header: CompletionHeader, request: CompletionRequest, engine: Pick<Engine, 'decode'>) {
    this.#header = header;
    this.#request = request;
    this.#engine = engine;
    this.#usageMode = readUsageMode(request.stream_options);
    this.#openPromptCount = request.prompt.length;
  }

  /** The chunks of one event. Mutates: the writer; events of a prompt are passed once and in order. */
  push({ index: promptIndex, value: event }: PromptEvent): CompletionChunk[] {
    switch (event.kind) {
      case 'prompt-ready':
        this.#openChoices(promptIndex, event);
        return [];
      case 'token-delta':
        return [this.#deltaChunk(promptIndex * this.#request.n + event.choiceIndex, event)];
      case 'request-finish':
        this.#total = addUsage(this.#total, event.usage);
        this.#openPromptCount--;
        return this.#openPromptCount === 0 && this.#usageMode !== 'none' ? [this.#usageChunk()] : [];
    }
  }

  #openChoices(promptIndex: number, ready: PromptReadyEvent): void {
    const request = this.#request;
    const { promptTokenIds } = ready;
    const prompt = { given: request.prompt[promptIndex]!, ready };
    for (let choiceIndex = 0; choiceIndex < request.n; choiceIndex++)
      this.#choices[promptIndex * request.n + choiceIndex] = {
        writer: new CompletionChoiceWriter(request, prompt, this.#engine),
        promptTokenIds,
        isFirst: true,
        completionTokenCount: 0,
      };
  }

  #deltaChunk(index: number, event: TokenDeltaEvent): CompletionChunk {
    const withIds = this.#request.return_token_ids === true;
    const choice = this.#choices[index]!;
    const showsPrompt = withIds && choice.isFirst;
    choice.isFirst = false;
    choice.completionTokenCount += event.tokenIds.length;
    return {
      ...this.#header,
      choices: [
        {
          index,
          ...choice.writer.write(event),
          ...(choice.writer.end(event) ?? { finish_reason: null, stop_reason: null }),
          prompt_token_ids: showsPrompt ? [...choice.promptTokenIds] : null,
          token_ids: withIds ? [...event.tokenIds] : null,
        },
      ],
      usage: this.#usageMode === 'every-chunk' ? runningUsage(choice) : null,
    };
  }

  #usageChunk(): CompletionChunk {
    return { ...this.#header, choices: [], usage: toWholeUsage(this.#total) };
  }
}

/** The counts of one choice so far. */
function runningUsage({ promptTokenIds, completionTokenCount }: OpenChoice): Usage {
  return toUsage({ promptTokenCount: promptTokenIds.length, completionTokenCount });
}
