// The request of a caller: prompt, sampling parameters, stop conditions and options.

import type { ConstraintSpec } from '@ortler/structured-output';
import type { ChatMessage, ChatTemplateOptions } from './chat-message.ts';
import type { SamplingParams } from './sampling-params.ts';
import type { ToolsRequest } from './tools.ts';

/** A plain string is the same as `{ text }`. */
export type Prompt = string | ChatPrompt | TextPrompt | TokenPrompt;

/** A conversation, which the model's chat template renders. */
export interface ChatPrompt {
  readonly messages: readonly ChatMessage[];
  readonly template?: ChatTemplateOptions;
  readonly text?: never;
  readonly tokenIds?: never;
}

/** Text that is encoded without a template. */
export interface TextPrompt {
  readonly text: string;
  /** The special tokens that the tokenizer puts around a text. Default: true. */
  readonly addSpecialTokens?: boolean;
  readonly messages?: never;
  readonly tokenIds?: never;
}

export interface TokenPrompt {
  readonly tokenIds: readonly number[] | Int32Array;
  readonly messages?: never;
  readonly text?: never;
}

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
  /** Maximum number of generated tokens per choice. Default: what the context and the model's generation config leave. */
  readonly maxTokens?: number;
  /**
   * No stop token, no stop string and no end-of-sequence token, ignored or not, before this many tokens.
   * Default: 0.
   */
  readonly minTokens?: number;
}

/** Ends a choice whose last tokens are one block repeated. Sizes are in tokens; all 0 is off. */
export interface RepetitionDetection {
  readonly minPatternSize: number;
  readonly maxPatternSize: number;
  /** Repetitions that count as a loop; at least 2 where `maxPatternSize` is above 0. */
  readonly minCount: number;
}

/** Log probabilities to report beside each token: those of the token itself and of the `topCount` best ones. */
export interface LogprobsRequest {
  /** Range: 0 to 20. */
  readonly topCount: number;
}

/** Search for the most probable answers; every sampling setting is then without effect. */
export interface BeamSearch {
  /** Beams kept, and answers returned. Range: 1 to 10. */
  readonly width: number;
  /** Exponent of the length by which the sum of log probabilities is divided. */
  readonly lengthPenalty: number;
}

export interface GenerationRequest {
  readonly prompt: Prompt;
  readonly sampling?: Partial<SamplingParams>;
  readonly stop?: StopConditions;
  /** Independent answers to the same prompt. Default: 1. */
  readonly choiceCount?: number;
  /** Leave the text of special tokens out of the output. The marks of the reasoning format are read first. Default: true. */
  readonly skipSpecialTokens?: boolean;
  /** Texts that must not occur. Only their usual tokenization is banned. */
  readonly badWords?: readonly string[];
  readonly logprobs?: LogprobsRequest;
  /** Log probabilities of the prompt tokens; the whole prompt is then computed, without the prefix cache. */
  readonly promptLogprobs?: LogprobsRequest;
  readonly repetitionDetection?: RepetitionDetection;
  readonly beamSearch?: BeamSearch;
  /** Keep only the last tokens of the prompt. -1: as many as fit. Default: no truncation. */
  readonly truncatePromptTokens?: number;
  /**
   * Structured output: every complete choice matches it, and a choice that is cut off is the beginning of a match. After a
   * chat prompt it applies to the answer, after the reasoning.
   */
  readonly constraint?: ConstraintSpec;
  /** Functions that the model may call; only with a chat prompt. None: leave it out. */
  readonly tools?: ToolsRequest;
  /** Lower runs earlier. Only engines with the scheduling policy `priority` take a value other than 0. */
  readonly priority?: number;
  /**
   * Whose request it is, such as a team: shares take turns, by tokens, wherever requests wait. Lower priorities of other
   * shares still run earlier. Default: one share of all.
   */
  readonly share?: string;
  /** Cached prompts are shared only between requests with the same partition. Default: the empty one. */
  readonly cachePartition?: string;
}
