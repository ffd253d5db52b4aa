// RoPE (rotary position embedding) settings of config.json: the object under `rope_scaling`, or under the newer
// `rope_parameters`.

import { z } from 'zod';

const factor = z.number().min(1);
const contextLength = z.int().positive();

const ropeSettings = z.discriminatedUnion('rope_type', [
  z.object({ rope_type: z.literal('default') }),
  z.object({ rope_type: z.literal('linear'), factor }),
  z.object({
    rope_type: z.literal('llama3'),
    factor,
    low_freq_factor: z.number().positive(),
    high_freq_factor: z.number().positive(),
    original_max_position_embeddings: contextLength,
  }),
  z.object({ rope_type: z.literal('proportional'), factor: factor.default(1) }),
  z.object({
    rope_type: z.literal('yarn'),
    factor,
    original_max_position_embeddings: contextLength.optional(),
    attention_factor: z.number().positive().nullish(),
    beta_fast: z.number().positive().nullish(),
    beta_slow: z.number().positive().nullish(),
    mscale: z.number().min(0).nullish(),
    mscale_all_dim: z.number().min(0).nullish(),
    truncate: z.boolean().optional(),
  }),
  z.object({
    rope_type: z.literal('longrope'),
    factor: z.number().positive().nullish(),
    short_factor: z.array(z.number().positive()),
    long_factor: z.array(z.number().positive()),
    original_max_position_embeddings: contextLength.optional(),
    attention_factor: z.number().positive().nullish(),
  }),
]);

/** RoPE scaling: how rotary frequencies are stretched for contexts longer than in pretraining. */
export type RopeScaling =
  | { readonly kind: 'none' }
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      /** Unit: tokens. */
      readonly originalContextLength: number;
    }
  | {
      readonly kind: 'yarn';
      readonly factor: number;
      /** Unit: tokens. */
      readonly originalContextLength: number;
      /** Rotations over the original context, from which on a frequency is kept, and up to which it is slowed. */
      readonly fastRotations: number;
      readonly slowRotations: number;
      /** Both borders are rounded to whole pairs. */
      readonly roundsBorders: boolean;
      /** Factor of cosines and sines. */
      readonly amplitude: number;
    }
  | {
      readonly kind: 'longrope';
      /** Divisors of the frequencies of a model for contexts up to the original length. Shape: `[size / 2]`. */
      readonly shortFactors: readonly number[];
      /** Divisors of a model for longer contexts, in all positions. */
      readonly longFactors: readonly number[];
      /** Unit: tokens. */
      readonly originalContextLength: number;
      /** Factor of cosines and sines. */
      readonly amplitude: number;
    }
  /** The slowest frequencies are 0, so that the rest of a head is not rotated; its pairs are half the head size apart. */
  | { readonly kind: 'proportional'; readonly factor: number; readonly rotatedPairs: number }
  /** Frequency `i` is divided by factor `i`: llama3 scaling as GGUF files have it. Shape: `[size / 2]`. */
  | { readonly kind: 'factors'; readonly factors: readonly number[] };

export interface RopeConfig {
  /** Base of the geometric series of frequencies. */
  readonly theta: number;
  /** Elements of a head that are rotated, from the first on. */
  readonly size: number;
  /** Neighbouring elements are a pair; otherwise elements half the size apart. */
  readonly isInterleaved: boolean;
  readonly scaling: RopeScaling;
}

const SUPPORTED_ROPE_TYPES = ['default', 'linear', 'llama3', 'yarn', 'longrope', 'proportional'] as const;

/** A parsed block of RoPE settings, or its fault: invalid, or valid but unsupported. */
export type RopeResult =
  | {
      readonly kind: 'valid';
      readonly scaling: RopeScaling;
      readonly theta: number | undefined;
      /** Rotated part of a head. */
      readonly partialFactor: number | undefined;
    }
  | { readonly kind: 'invalid'; readonly path: string; readonly fault: string }
  | { readonly kind: 'unsupported'; readonly path: string; readonly fault: string };

/** Unit: tokens. */
export interface ContextLengths {
  /** Maximum context of the model. */
  readonly maximum: number;
  /** Before scaling, where config.json says it outside the object. */
  readonly original: number | undefined;
}

/**
 * Reads the object under `rope_scaling` or `rope_parameters`, or the part of it for one type of layer; `type` is the older name of
 * `rope_type`.
 */
export function parseRopeSettings(
  value: Readonly<Record<string, unknown>>,
  lengths: ContextLengths,
): RopeResult {
  // Nested settings for each type of layer.
  const nested = Object.entries(value).find(([, entry]) => isObject(entry));
  if (nested !== undefined) {
    return { kind: 'unsupported', path: nested[0], fault: 'is an object; all layers must share one setting' };
  }
  const type = value.rope_type ?? value.type ?? 'default';
  if (!(SUPPORTED_ROPE_TYPES as readonly unknown[]).includes(type)) {
    const fault = `is ${JSON.stringify(type)}; supported: ${SUPPORTED_ROPE_TYPES.join(', ')}`;
    return { kind: 'unsupported', path: 'rope_type', fault };
  }
  const parsed = ropeSettings.safeParse({ ...value, rope_type: type });
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    return { kind: 'invalid', path: issue.path.join('.'), fault: issue.message };
  }
  const theta = z.number().positive().optional().safeParse(value.rope_theta);
  if (!theta.success) return { kind: 'invalid', path: 'rope_theta', fault: 'must be a number above 0' };
  const partial = z.number().positive().max(1).optional().safeParse(value.partial_rotary_factor);
  if (!partial.success)
    return { kind: 'invalid', path: 'partial_rotary_factor', fault: 'must be above 0 and at most 1' };
  const settings = parsed.data;
  if (settings.rope_type === 'llama3' && settings.high_freq_factor <= settings.low_freq_factor) {
    return { kind: 'invalid', path: 'high_freq_factor', fault: 'must be above low_freq_factor' };
  }
  return {
    kind: 'valid',
    scaling: toScaling(settings, lengths),
    theta: theta.data,
    partialFactor: partial.data,
  };
}

function toScaling(
  settings: z.infer<typeof ropeSettings>,
  { maximum, original }: ContextLengths,
): RopeScaling {
  switch (settings.rope_type) {
    case 'default':
      return { kind: 'none' };
    case 'proportional':
      return { kind: 'proportional', factor: settings.factor, rotatedPairs: 0 };
    case 'linear':
      return { kind: 'linear', factor: settings.factor };
    case 'llama3':
      return {
        kind: 'llama3',
        factor: settings.factor,
        lowFrequencyFactor: settings.low_freq_factor,
        highFrequencyFactor: settings.high_freq_factor,
        originalContextLength: settings.original_max_position_embeddings,
      };
    case 'yarn':
      return {
        kind: 'yarn',
        factor: settings.factor,
        originalContextLength: settings.original_max_position_embeddings ?? maximum,
        fastRotations: settings.beta_fast ?? 32,
        slowRotations: settings.beta_slow ?? 1,
        roundsBorders: settings.truncate ?? true,
        amplitude: settings.attention_factor ?? yarnAmplitude(settings),
      };
    case 'longrope': {
      const originalContextLength = settings.original_max_position_embeddings ?? original ?? maximum;
      const factor = settings.factor ?? maximum / originalContextLength;
      return {
        kind: 'longrope',
        shortFactors: settings.short_factor,
        longFactors: settings.long_factor,
        originalContextLength,
        amplitude: settings.attention_factor ?? longropeAmplitude(factor, originalContextLength),
      };
    }
  }
}

/** Source: transformers, `_compute_longrope_parameters` of modeling_rope_utils.py. */
function longropeAmplitude(factor: number, originalContextLength: number): number {
  return factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalContextLength));
}

/** Source: transformers, `_compute_yarn_parameters` of modeling_rope_utils.py. */
export function yarnAmplitude({
  factor,
  mscale,
  mscale_all_dim: all,
}: {
  readonly factor: number;
  readonly mscale?: number | null | undefined;
  readonly mscale_all_dim?: number | null | undefined;
}): number {
  const amplitude = (weight: number) => 0.1 * weight * Math.log(factor) + 1;
  return mscale && all ? amplitude(mscale) / amplitude(all) : amplitude(1);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
