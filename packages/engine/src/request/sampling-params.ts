// The sampling parameters of a request: one table of their neutral values and ranges, from which types, defaults and
// validation follow. A new number needs an entry here and the code that acts on it.

import { EngineError } from '../errors.ts';
import { describeValue } from './describe-value.ts';

/** One numeric sampling parameter. */
interface SamplingField {
  /** The value that changes nothing. */
  readonly neutral: number;
  /** The range, as error messages name it. */
  readonly range: string;
  readonly isInRange: (value: number) => boolean;
}

const PENALTY: SamplingField = {
  neutral: 0,
  range: '-2 to 2',
  isInRange: value => value >= -2 && value <= 2,
};

/** In generation_config.json and on the wire each has the same name in snake case. */
const SAMPLING_FIELDS = {
  /** 0 takes the most probable token; values in (0, 0.01) act as 0.01. Range: [0, 2]. Default: 1. */
  temperature: { neutral: 1, range: '0 to 2', isInRange: value => value >= 0 && value <= 2 },
  /** Keeps the most probable tokens whose probabilities sum to this. Range: (0, 1]. Default: 1, which is off. */
  topP: { neutral: 1, range: 'above 0 and at most 1', isInRange: value => value > 0 && value <= 1 },
  /** Keeps this many most probable tokens, ties at the border included. Default: 0, which is off. */
  topK: {
    neutral: 0,
    range: 'a whole number, 0 is off',
    isInRange: value => Number.isInteger(value) && value >= 0,
  },
  /** Drops tokens less probable than this share of the best one. Range: [0, 1]. Default: 0, which is off. */
  minP: { neutral: 0, range: '0 to 1', isInRange: value => value >= 0 && value <= 1 },
  /** Taken from the logit of a token for each time it was generated. Range: [-2, 2]. Default: 0, which is off. */
  frequencyPenalty: PENALTY,
  /** Taken from the logit of every token that was generated at all. Range: [-2, 2]. Default: 0, which is off. */
  presencePenalty: PENALTY,
  /** Divides positive and multiplies negative logits of tokens in the prompt or the output. Above 0. Default: 1, which is off. */
  repetitionPenalty: {
    neutral: 1,
    range: 'a finite number above 0',
    isInRange: value => value > 0 && value < Infinity,
  },
} as const satisfies Readonly<Record<string, SamplingField>>;

export type SamplingFieldName = keyof typeof SAMPLING_FIELDS;

export const SAMPLING_FIELD_NAMES = Object.keys(SAMPLING_FIELDS) as readonly SamplingFieldName[];

/** An amount that is added to the logit of one token. */
export interface LogitBias {
  readonly tokenId: number;
  readonly bias: number;
}

/** Sampling parameters of a request. */
export interface SamplingParams extends SamplingNumbers {
  /** Added to the logits of single tokens, each clamped to [-100, 100]. */
  readonly logitBias?: readonly LogitBias[];
  /** The only tokens that may be drawn. At least one. */
  readonly allowedTokenIds?: readonly number[];
  /** int64. Absent: a fresh random seed per request. Choice `i` draws with `seed + i`. */
  readonly seed?: bigint;
}

/** Names of all sampling parameters. */
export const SAMPLING_PARAM_NAMES: readonly (keyof SamplingParams)[] = [
  ...SAMPLING_FIELD_NAMES,
  'logitBias',
  'allowedTokenIds',
  'seed',
];

type SamplingNumbers = { readonly [Name in SamplingFieldName]: number };

/** Parameters that change nothing: plain sampling from the model's distribution. */
export const NEUTRAL_SAMPLING: SamplingParams = Object.fromEntries(
  SAMPLING_FIELD_NAMES.map(name => [name, SAMPLING_FIELDS[name].neutral]),
) as unknown as SamplingNumbers;

/** Smallest temperature that is not greedy. Source: vLLM. */
const MIN_TEMPERATURE = 0.01;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Fills the defaults and checks the ranges that need no vocabulary. Throws: `invalid_request` naming the field. */
export function validateSamplingParams(
  params: Partial<SamplingParams>,
  defaults: SamplingParams = NEUTRAL_SAMPLING,
): SamplingParams {
  // Undefined is left out, as in every other group of a request.
  const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
  const merged: SamplingParams = { ...defaults, ...given };
  for (const name of SAMPLING_FIELD_NAMES) {
    const fault = findSamplingFault(name, merged[name]);
    if (fault !== undefined) throw toInvalidField(name, fault);
  }
  const { seed } = merged;
  // A number would fail in the step, where other requests run as well.
  const isSeed = seed === undefined || (typeof seed === 'bigint' && seed >= INT64_MIN && seed <= INT64_MAX);
  if (!isSeed) throw toInvalidField('seed', describeRangeFault('a bigint of 64 bits, such as 42n', seed));
  // Greedy: top-p, top-k and min-p never drop the most probable token.
  if (merged.temperature === 0) {
    const { topP, topK, minP } = NEUTRAL_SAMPLING;
    return { ...merged, topP, topK, minP };
  }
  return { ...merged, temperature: Math.max(merged.temperature, MIN_TEMPERATURE) };
}

/** What is wrong with a value of a field, as "must be 0 to 2; got 3"; undefined where nothing is. */
export function findSamplingFault(name: SamplingFieldName, value: unknown): string | undefined {
  const { range, isInRange }: SamplingField = SAMPLING_FIELDS[name];
  return typeof value === 'number' && isInRange(value) ? undefined : describeRangeFault(range, value);
}

const describeRangeFault = (range: string, value: unknown) => `must be ${range}; got ${describeValue(value)}`;

function toInvalidField(field: string, fault: string): EngineError {
  return new EngineError('invalid_request', `${field} ${fault}.`, { parameter: `sampling.${field}` });
}
