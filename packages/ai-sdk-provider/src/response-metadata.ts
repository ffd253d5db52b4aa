// Provider metadata, under `providerMetadata.ortler`: log probabilities, the stop that matched, times. Plain JSON, because
// programs send it to browsers.

import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type {
  CandidateLogprob,
  ConstraintPosition,
  PromptTiming,
  StopReason,
  TokenLogprob,
} from '@ortler/engine';
import { PROVIDER_NAME } from './provider-options.ts';

/** A token that could have come at some place. */
export interface OrtlerCandidateLogprob {
  readonly tokenId: number;
  /** The token decoded alone; empty for a part of a character. */
  readonly text: string;
  readonly bytes: readonly number[];
  /** Natural logarithm of the model's own probability, before any sampling setting. */
  readonly logprob: number;
  /** 1 for the most probable token. */
  readonly rank: number;
}

export interface OrtlerTokenLogprob extends OrtlerCandidateLogprob {
  /** Best candidates at this place, most probable first. */
  readonly top: readonly OrtlerCandidateLogprob[];
}

/** `providerMetadata.ortler` of a result. */
export interface OrtlerMetadata {
  /** The stop sequence or stop token that matched; null for the end of the model's answer and other ends. */
  readonly stopReason: string | number | null;
  /** Where a constrained answer stood when its length ended it. */
  readonly constraintPosition?: ConstraintPosition;
  /** One for each generated token, reasoning included; only with the option `logprobs`. */
  readonly logprobs?: readonly OrtlerTokenLogprob[];
  /** Unit: milliseconds. Absent where the engine does not measure them. */
  readonly timing?: { readonly queuedMs: number; readonly prefillMs: number; readonly decodeMs?: number };
}

export interface AnswerMetadata {
  readonly stopReason: StopReason;
  readonly constraintPosition: ConstraintPosition | undefined;
  /** Empty unless asked for. */
  readonly logprobs: readonly TokenLogprob[];
  readonly timing: PromptTiming | undefined;
  readonly decodeMs: number | undefined;
}

export function toProviderMetadata({
  stopReason,
  constraintPosition,
  logprobs,
  timing,
  decodeMs,
}: AnswerMetadata): SharedV4ProviderMetadata {
  return {
    [PROVIDER_NAME]: {
      stopReason,
      ...(constraintPosition && { constraintPosition: { ...constraintPosition } }),
      ...(logprobs.length > 0 && {
        logprobs: logprobs.map(token => ({ ...toCandidate(token), top: token.top.map(toCandidate) })),
      }),
      ...(timing && {
        timing: {
          queuedMs: timing.queuedMs,
          prefillMs: timing.prefillMs,
          ...(decodeMs !== undefined && { decodeMs }),
        },
      }),
    } satisfies OrtlerMetadata,
  };
}

// Without a declared type: an interface would not count as a JSON object.
function toCandidate({ tokenId, text, bytes, logprob, rank }: CandidateLogprob) {
  return { tokenId, text, bytes: [...bytes], logprob, rank };
}
