// Every message between text side and token side, both directions. Plain data that structured cloning can
// carry between processes and threads; ids and numbers only, no text of prompts or answers.

import type { Grammar, TokenVocabulary } from '@ortler/structured-output';
import type { EngineErrorCode } from '../errors.ts';
import type { TokenFinishReason } from '../request/finish-reason.ts';
import type { PromptTiming } from '../request/generation-event.ts';
import type { LogprobsRequest } from '../request/generation-request.ts';
import type { SamplingParams } from '../request/sampling-params.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';
import type { TokenRules } from '../request/token-rules.ts';
import type { CacheEvent } from './cache-event.ts';
import type { CoreStats } from './core-stats.ts';
import type { CoreOptions } from './options.ts';

/** One request as the token side sees it. */
export interface SubmitMessage extends TokenRules {
  readonly kind: 'submit';
  /** Unique within the link. Later requests have larger ones: it is the order in which they are served. */
  readonly requestId: number;
  /**
   * Id of the request that this one continues: a step of a beam search continues its first. It inherits the place of that
   * request in the order of service and is never refused as `overloaded`, because the search was admitted already. Absent:
   * an independent request.
   */
  readonly continues?: number;
  readonly promptTokenIds: Int32Array;
  readonly choiceCount: number;
  /** Defaults filled and ranges checked; the seed is always set. */
  readonly sampling: SamplingParams & { readonly seed: bigint };
  readonly logprobs?: LogprobsRequest | undefined;
  readonly promptLogprobs?: LogprobsRequest | undefined;
  /** Lower runs earlier; 0 unless the policy is `priority`. Default: 0. */
  readonly priority?: number;
  /** Shares take turns, by tokens. Default: the empty share. */
  readonly share?: string;
  /** Default: the empty partition. */
  readonly cachePartition?: string;
  /** The grammar that each choice follows. A `VocabularyMessage` comes before the first request that has one. */
  readonly constraint?: SubmittedConstraint | undefined;
}

export interface SubmittedConstraint {
  /** Written by the front end, which has compiled it once to prove that it compiles. */
  readonly grammar: Grammar;
  /** Absent: the answer begins with its first token. */
  readonly reasoning?: SubmittedReasoning;
  /** The answer is free up to one of them; the grammar is that of the whole answer all the same. Absent: never free. */
  readonly triggers?: SubmittedTriggers;
}

/** Texts from which on the grammar applies. */
export interface SubmittedTriggers {
  /** Bytes; none of them empty. */
  readonly texts: readonly Uint8Array[];
  /** They count anywhere in the answer, or only at its start: an answer that begins otherwise is free to its end. */
  readonly position: 'anywhere' | 'start';
}

/** The reasoning of a choice, which is free of the constraint. */
export interface SubmittedReasoning {
  /** The first token belongs to the reasoning already. */
  readonly isOpen: boolean;
  /** Opens the reasoning where `isOpen` is false, if the model prefers it to every other first token. */
  readonly startTokenId?: number;
  /** Bytes of the texts that end the reasoning. */
  readonly ends: readonly Uint8Array[];
}

/** The bytes of every token, for constraints. Sent once to each token side that gets a constrained request. */
export interface VocabularyMessage {
  readonly kind: 'vocabulary';
  readonly vocabulary: TokenVocabulary;
}

/** Ends one choice, or the whole request when `choiceIndex` is absent. Legal at any moment, any number of times. */
export interface AbortMessage {
  readonly kind: 'abort';
  readonly requestId: number;
  readonly choiceIndex?: number;
}

/**
 * Backpressure: the reader of a choice is too slow, or has caught up. A paused choice gets no more tokens and may lose its
 * slot to others; its output does not change. Legal at any moment, any number of times.
 */
export interface PauseMessage {
  readonly kind: 'pause' | 'resume';
  readonly requestId: number;
  readonly choiceIndex: number;
}

export interface LoadMessage {
  readonly kind: 'load';
  readonly options: CoreOptions;
}

/** Answered by a pong between two steps, so a step that hangs leaves it unanswered. */
export interface PingMessage {
  readonly kind: 'ping';
}

/** Ends the loop; the token side frees everything and stops. */
export interface CloseMessage {
  readonly kind: 'close';
}

export type ToCoreMessage =
  | LoadMessage
  | VocabularyMessage
  | SubmitMessage
  | AbortMessage
  | PauseMessage
  | PingMessage
  | CloseMessage;

/** Facts of the loaded model and its token side. */
export interface CoreFacts {
  readonly backend: 'native' | 'node';
  readonly runner: 'slots' | 'paged' | 'scripted';
  readonly device: string;
  readonly vocabSize: number;
  readonly contextLength: number;
  readonly maxSequences: number;
  readonly onnxRuntimeVersion: string;
  /** Graph and weights. Files that are mapped are in memory only as far as they were read. Unit: bytes. */
  readonly weightBytes: number;
  /** KV caches, as reserved; memory that no token was written to may not be in use. Unit: bytes. */
  readonly cacheBytes: number;
  /** Tokens of a block: prompts are found again in whole blocks at least. */
  readonly cacheBlockLength: number;
  /** Blocks that the KV cache has room for. */
  readonly cacheBlockCount: number;
  /** Instruction set of the CPU kernels that the graph uses: `amx`, `avx512`, `avxvnni`, `avx2` or `neon`. Absent: it uses none. */
  readonly kernels?: string;
  /** Reason why `auto` did not take the native binding. Absent when it did, or when the caller named a binding. */
  readonly backendNote?: string;
  /** Reason why tokens of a model on a device are sampled on the CPU. Absent when they are sampled on the device. */
  readonly samplingNote?: string;
  /**
   * Operators of a model on a device that run on the CPU, the reason why the model runs on the CPU, or the reason why it runs
   * there without the CPU kernels.
   */
  readonly deviceNote?: string;
  /** Which weights stay in their file, because memory is too short for them. Absent: all are in memory. */
  readonly memoryNote?: string;
}

/** Progress of the calls that compile the kernels of a model on a device. */
export interface WarmUpProgress {
  readonly doneCount: number;
  readonly totalCount: number;
}

/** Comes before `ready`, and only for models on a device. */
export interface WarmUpMessage extends WarmUpProgress {
  readonly kind: 'warm-up';
}

export interface ReadyMessage {
  readonly kind: 'ready';
  readonly facts: CoreFacts;
}

/** New tokens of one sequence, and its end when the last of them is its last. Mostly one; a step may give several. */
export interface SequenceUpdate {
  readonly requestId: number;
  readonly choiceIndex: number;
  readonly tokenIds: readonly number[];
  /** One for each of `tokenIds`; only when requested. */
  readonly logprobs?: readonly TokenLogprobs[];
  readonly finish?: SequenceFinish;
  /** Only this choice failed, after these tokens; it gets no more. */
  readonly failure?: { readonly code: EngineErrorCode; readonly message: string };
}

export interface SequenceFinish {
  readonly reason: TokenFinishReason;
  readonly stopTokenId: number | null;
  /** A `stop` without a stop token: with the last token, which is text, the constrained answer is complete. */
  readonly endsWithText?: true;
  /** A `length` inside a constraint: whether the answer could have ended here. */
  readonly canEnd?: boolean;
}

/** A request whose whole prompt is computed. */
export interface PrefilledRequest {
  readonly requestId: number;
  readonly cachedTokenCount: number;
  readonly timing: PromptTiming;
  /** One for each prompt token, null for the first; only when requested. */
  readonly promptLogprobs?: readonly (TokenLogprobs | null)[];
}

/** Everything one step produced: one message per step, however many sequences ran. */
export interface StepMessage {
  readonly kind: 'step';
  readonly updates: readonly SequenceUpdate[];
  /** Requests whose prompts this step completed. */
  readonly prefilled: readonly PrefilledRequest[];
  readonly stats: CoreStats;
  /** Changes of the prefix cache since the last message; only with the option `cacheEvents`, and only where there are any. */
  readonly cacheEvents?: readonly CacheEvent[];
}

/** One request failed; the others go on. */
export interface RequestFailedMessage {
  readonly kind: 'request-failed';
  readonly requestId: number;
  readonly code: EngineErrorCode;
  readonly message: string;
  readonly parameter?: string;
  readonly retryAfterMs?: number;
}

/** The token side cannot go on (load failed, repeated step failures). The link reports it and ends. */
export interface FatalMessage {
  readonly kind: 'fatal';
  readonly code: EngineErrorCode;
  readonly message: string;
}

/** The answer to a ping. */
export interface PongMessage {
  readonly kind: 'pong';
  /** Whether steps follow. */
  readonly hasWork: boolean;
}

export type FromCoreMessage =
  | WarmUpMessage
  | ReadyMessage
  | StepMessage
  | RequestFailedMessage
  | PongMessage
  | FatalMessage;
