// What `Engine.generate` yields, in order: one `prompt-ready`, any number of `token-delta` and one
// `choice-finish` per choice, and last one `request-finish`. Failures are thrown as `EngineError`.

import type { FinishReason, StopReason } from './finish-reason.ts';

export interface PromptReadyEvent {
  readonly kind: 'prompt-ready';
  readonly promptTokenIds: readonly number[];
  /** Prompt tokens whose keys and values came from the prefix cache. */
  readonly cachedTokenCount: number;
}

/** New tokens of one choice. `text` may be empty while a character or a possible stop string is held back. */
export interface TokenDeltaEvent {
  readonly kind: 'token-delta';
  readonly choiceIndex: number;
  readonly text: string;
  readonly tokenIds: readonly number[];
}

/** End of one choice, with the last text and tokens, so that joined texts are the whole answer. */
export interface ChoiceFinishEvent {
  readonly kind: 'choice-finish';
  readonly choiceIndex: number;
  readonly text: string;
  readonly tokenIds: readonly number[];
  readonly finishReason: FinishReason;
  readonly stopReason: StopReason;
}

export interface TokenUsage {
  readonly promptTokenCount: number;
  /** Over all choices, end-of-sequence tokens and tokens of a cut stop string included. */
  readonly completionTokenCount: number;
  readonly cachedTokenCount: number;
}

export interface RequestFinishEvent {
  readonly kind: 'request-finish';
  readonly usage: TokenUsage;
}

export type GenerationEvent = PromptReadyEvent | TokenDeltaEvent | ChoiceFinishEvent | RequestFinishEvent;
