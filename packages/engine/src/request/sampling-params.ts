// Sampling settings of a request, their neutral defaults and their ranges.
// Both sides of the link read them; only `validateSamplingParams` decides what is allowed.

import { EngineError } from '../errors.ts';

/** An amount that is added to the score of one token. */
export interface LogitBias {
  readonly tokenId: number;
  readonly bias: number;
}

/** How the next token is drawn. */
export interface SamplingParams {
  /** 0 takes the most probable token; values in (0, 0.01) act as 0.01. Range: [0, 2]. */
  readonly temperature: number;
  /** Keep the most probable tokens whose probabilities sum to this. Range: (0, 1]; 1 is off. */
  readonly topP: number;
  /** Keep this many most probable tokens, ties at the border included. 0 is off. */
  readonly topK: number;
  /** Drop tokens less probable than this share of the best one. Range: [0, 1]; 0 is off. */
  readonly minP: number;
  /** Taken from the score of a token for each time it was generated. Range: [-2, 2]; 0 is off. */
  readonly frequencyPenalty: number;
  /** Taken from the score of every token that was generated at all. Range: [-2, 2]; 0 is off. */
  readonly presencePenalty: number;
  /** Divides positive and multiplies negative scores of tokens in the prompt or the output. Above 0; 1 is off. */
  readonly repetitionPenalty: number;
  /** Added to the scores of single tokens, each clamped to [-100, 100]. */
  readonly logitBias?: readonly LogitBias[];
  /** The only tokens that may be drawn. At least one. */
  readonly allowedTokenIds?: readonly number[];
  /** int64. Absent: a fresh random seed per request. Choice `i` draws with `seed + i`. */
  readonly seed?: bigint;
}

/** Settings that change nothing: plain sampling from the model's distribution. */
export const NEUTRAL_SAMPLING: SamplingParams = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  frequencyPenalty: 0,
  presencePenalty: 0,
  repetitionPenalty: 1,
};

/** Smallest temperature that is not greedy. Source: the service this wire format comes from. */
export const MIN_TEMPERATURE = 0.01;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Fills the defaults and checks the ranges that need no vocabulary. Throws: `invalid_request` naming the field. */
export function validateSamplingParams(
  params: Partial<SamplingParams>,
  defaults: SamplingParams = NEUTRAL_SAMPLING,
): SamplingParams {
  const merged = { ...defaults, ...params };
  checkRange('temperature', merged.temperature, merged.temperature >= 0 && merged.temperature <= 2, '0 to 2');
  checkRange('topP', merged.topP, merged.topP > 0 && merged.topP <= 1, 'above 0 and at most 1');
  checkRange(
    'topK',
    merged.topK,
    Number.isInteger(merged.topK) && merged.topK >= 0,
    'a whole number, 0 is off',
  );
  checkRange('minP', merged.minP, merged.minP >= 0 && merged.minP <= 1, '0 to 1');
  for (const field of ['frequencyPenalty', 'presencePenalty'] as const) {
    checkRange(field, merged[field], merged[field] >= -2 && merged[field] <= 2, '-2 to 2');
  }
  const { repetitionPenalty } = merged;
  const isRepetitionPenalty = repetitionPenalty > 0 && repetitionPenalty < Infinity;
  checkRange('repetitionPenalty', repetitionPenalty, isRepetitionPenalty, 'a finite number above 0');
  const { seed } = merged;
  if (seed !== undefined)
    checkRange(
      'seed',
      seed,
      typeof seed === 'bigint' && seed >= INT64_MIN && seed <= INT64_MAX,
      'a bigint of 64 bits, such as 42n',
    );
  if (merged.temperature === 0) return { ...merged, topP: 1, topK: 0, minP: 0 };
  return { ...merged, temperature: Math.max(merged.temperature, MIN_TEMPERATURE) };
}

function checkRange(field: string, value: unknown, ok: boolean, allowed: string): void {
  if (ok) return;
  throw new EngineError('invalid_request', `${field} must be ${allowed}; got ${String(value)}.`, {
    parameter: `sampling.${field}`,
  });
}
