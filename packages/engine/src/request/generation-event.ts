// Events of `Engine.generate`, in order: one `prompt-ready`, one or more `token-delta` per choice, the last of which has
// its `finish`, and at the end one `request-finish`. Failures are thrown as `EngineError`.

import type { JsonPosition } from '@ortler/structured-output';
import type { FinishReason, StopReason } from './finish-reason.ts';

/** A candidate for the token at one position, with its probability. */
export interface CandidateLogprob {
  readonly tokenId: number;
  /** The token decoded alone; empty for an incomplete character. */
  readonly text: string;
  /** The true bytes of the token, also of an incomplete character. */
  readonly bytes: Uint8Array;
  /**
   * Natural logarithm of the model's own probability, before any sampling setting; under a constraint that among the tokens that it
   * allows. At least -9999.
   */
  readonly logprob: number;
  /** 1 for the most probable token; ties share the better rank. */
  readonly rank: number;
}

/** A token and the best candidates at its position, most probable first. */
export interface TokenLogprob extends CandidateLogprob {
  readonly top: readonly CandidateLogprob[];
}

/** The parts of the time to first token (TTFT), measured by the token side. Unit: milliseconds. */
export interface PromptTiming {
  /** From the arrival of the request to the first step that computed a part of its prompt. */
  readonly queuedMs: number;
  /** From that step to the first token. */
  readonly prefillMs: number;
}

export interface PromptReadyEvent {
  readonly kind: 'prompt-ready';
  readonly promptTokenIds: readonly number[];
  /** Prompt tokens that were hits of the prefix cache. */
  readonly cachedTokenCount: number;
  /** Absent in a beam search, which computes many prompts. */
  readonly timing?: PromptTiming;
  /** One for each prompt token, null for the first; only when requested. */
  readonly promptLogprobs?: readonly (TokenLogprob | null)[];
}

/** Where a constrained choice stood when the limit of its length ended it. */
export interface ConstraintPosition {
  /** The text is a whole match of the constraint, which could have gone on. */
  readonly isComplete: boolean;
  /** JSON pointer to the value that is not complete; only of an answer that is JSON as a whole. */
  readonly path?: string;
  readonly inside?: JsonPosition['inside'];
}

/** How a choice ended. */
export interface ChoiceFinish {
  readonly reason: FinishReason;
  readonly stopReason: StopReason;
  /** Only for a choice with a constraint that ended by `length`. */
  readonly constraintPosition?: ConstraintPosition;
}

/**
 * New text of one tool call. Its first delta has `start`, later ones have text only. Joined over all deltas of a call,
 * `arguments` is the JSON text of an object, unless the choice was cut off inside it.
 */
export interface ToolCallDelta {
  /** Place of the call in its choice, from 0; calls come one after the other. */
  readonly index: number;
  readonly start?: {
    /** Unique within the choice: the model's own where its format has one, otherwise a new one that its template takes. */
    readonly id: string;
    /** One of the names in the request. */
    readonly name: string;
  };
  readonly arguments: string;
}

/**
 * New tokens of one choice and their text. Joined over all deltas of a choice, `text` is the whole answer and `reasoning`
 * is all of its reasoning. Both may be empty while a character, a reasoning mark or a possible stop string is incomplete.
 */
export interface TokenDeltaEvent {
  readonly kind: 'token-delta';
  readonly choiceIndex: number;
  /** New text of the answer, without reasoning. */
  readonly text: string;
  /** New text of the reasoning, without its marks. Empty for models without a reasoning format, and for raw prompts. */
  readonly reasoning: string;
  /** The tokens are of the reasoning, its marks included. Otherwise they are of the answer, or of both in a beam search. */
  readonly isReasoning: boolean;
  /** New text of tool calls, at least one; absent where there is none. Their marks are in no text. */
  readonly toolCalls?: readonly ToolCallDelta[];
  readonly tokenIds: readonly number[];
  /** One for each of `tokenIds`; only when requested. */
  readonly logprobs?: readonly TokenLogprob[];
  /** Set on the last delta of a choice. */
  readonly finish: ChoiceFinish | null;
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
  /** From the first token to the last one, however slow the reader is. Absent where `timing` is. Unit: milliseconds. */
  readonly decodeMs?: number;
}

export type GenerationEvent = PromptReadyEvent | TokenDeltaEvent | RequestFinishEvent;
