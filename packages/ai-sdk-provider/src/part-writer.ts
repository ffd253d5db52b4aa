// Events of one answer -> stream parts of the AI SDK: blocks of text and reasoning, tool calls, and one `finish` with the finish reason,
// the usage and our metadata.

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type {
  ChoiceFinish,
  GenerationEvent,
  PromptReadyEvent,
  RequestFinishEvent,
  TokenDeltaEvent,
  TokenLogprob,
} from '@ortler/engine';
import { FAILED, toFinishReason } from './finish-reason.ts';
import { toProviderMetadata } from './response-metadata.ts';
import { ToolInputParts } from './tool-input-parts.ts';
import { toUsage } from './usage.ts';

type BlockType = 'text' | 'reasoning';
type StreamParts = Generator<LanguageModelV4StreamPart, void, undefined>;

/** State of one answer: its open block, and the counts and log probabilities for its `finish`. */
export class PartWriter {
  readonly #prompt: PromptReadyEvent;
  #openBlock: { readonly type: BlockType; readonly id: string } | null = null;
  #blockCount = 0;
  #completionTokenCount = 0;
  #reasoningTokenCount = 0;
  readonly #toolInputs = new ToolInputParts();
  readonly #logprobs: TokenLogprob[] = [];
  #finish: ChoiceFinish | null = null;

  constructor(prompt: PromptReadyEvent) {
    this.#prompt = prompt;
  }

  /** Parts of the next event. Mutates: the state of the answer. */
  *write(event: GenerationEvent): StreamParts {
    if (event.kind === 'token-delta') {
      this.#count(event);
      yield* this.#writeDelta('reasoning', event.reasoning);
      yield* this.#writeDelta('text', event.text);
      if (event.toolCalls !== undefined) {
        yield* this.#closeBlock();
        yield* this.#toolInputs.write(event.toolCalls);
      }
    } else if (event.kind === 'request-finish') yield* this.#writeFinish(event);
  }

  /** Parts of an answer that broke off, with the tokens that were read. */
  *fail(error: unknown): StreamParts {
    yield* this.#closeBlock();
    yield { type: 'error', error };
    const usage = toUsage({
      promptTokenCount: this.#prompt.promptTokenIds.length,
      cachedTokenCount: this.#prompt.cachedTokenCount,
      completionTokenCount: this.#completionTokenCount,
      reasoningTokenCount: this.#reasoningTokenCount,
    });
    yield { type: 'finish', finishReason: FAILED, usage };
  }

  *#writeDelta(type: BlockType, delta: string): StreamParts {
    if (delta === '') return;
    if (this.#openBlock?.type !== type) {
      yield* this.#closeBlock();
      this.#openBlock = { type, id: `${type}-${this.#blockCount++}` };
      yield { type: `${type}-start`, id: this.#openBlock.id };
    }
    yield { type: `${type}-delta`, id: this.#openBlock.id, delta };
  }

  *#closeBlock(): StreamParts {
    if (this.#openBlock === null) return;
    const { type, id } = this.#openBlock;
    this.#openBlock = null;
    yield { type: `${type}-end`, id };
  }

  *#writeFinish({ usage, decodeMs }: RequestFinishEvent): StreamParts {
    yield* this.#closeBlock();
    yield* this.#toolInputs.close();
    yield {
      type: 'finish',
      finishReason: toFinishReason(this.#finish?.reason),
      usage: toUsage({ ...usage, reasoningTokenCount: this.#reasoningTokenCount }),
      providerMetadata: toProviderMetadata({
        stopReason: this.#finish?.stopReason ?? null,
        constraintPosition: this.#finish?.constraintPosition,
        logprobs: this.#logprobs,
        timing: this.#prompt.timing,
        decodeMs,
      }),
    };
  }

  #count({ tokenIds, logprobs, reasoning, isReasoning, finish }: TokenDeltaEvent): void {
    this.#completionTokenCount += tokenIds.length;
    // Tokens of an opening mark or of an incomplete character have no text of their own.
    if (isReasoning || reasoning !== '') this.#reasoningTokenCount = this.#completionTokenCount;
    if (logprobs !== undefined) this.#logprobs.push(...logprobs);
    if (finish !== null) this.#finish = finish;
  }
}
