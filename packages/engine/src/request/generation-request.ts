// What a caller of the engine submits.

import type { ChatMessage, ChatTemplateOptions } from './chat-message.ts';
import type { SamplingParams } from './sampling-params.ts';

export type Prompt =
  | {
      readonly kind: 'chat';
      readonly messages: readonly ChatMessage[];
      readonly template?: ChatTemplateOptions;
    }
  | { readonly kind: 'text'; readonly text: string; readonly addSpecialTokens?: boolean }
  | { readonly kind: 'tokens'; readonly tokenIds: readonly number[] };

/** When a choice ends. */
export interface StopConditions {
  /** Texts that end the choice; the text from the match on is cut. At most 64, none empty. */
  readonly strings?: readonly string[];
  /** Token ids that end the choice, beside the model's own. */
  readonly tokenIds?: readonly number[];
  /** Keep the matched stop string, and the text of a stop token, in the output. Default: false. */
  readonly includeInOutput?: boolean;
  /** Do not end on the model's end-of-sequence tokens. Default: false. */
  readonly ignoreEos?: boolean;
  /** Most generated tokens per choice. Default: what the context and the model's generation config leave. */
  readonly maxTokens?: number;
  /**
   * No stop token, no stop string and no end-of-sequence token, ignored or not, before this many tokens.
   * Default: 0.
   */
  readonly minTokens?: number;
}

export interface GenerationRequest {
  readonly prompt: Prompt;
  readonly sampling?: Partial<SamplingParams>;
  readonly stop?: StopConditions;
  /** Independent answers to the same prompt. Default: 1. */
  readonly choiceCount?: number;
  /** Leave the text of special tokens out of the output. Default: true. */
  readonly skipSpecialTokens?: boolean;
}
