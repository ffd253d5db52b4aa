// RoPE (rotary position embedding) settings of config.json: `rope_theta` with `rope_scaling`, or the newer `rope_parameters`.

import { z } from 'zod';

const factor = z.number().min(1);

const ropeSettings = z.discriminatedUnion('rope_type', [
  z.object({ rope_type: z.literal('default') }),
  z.object({ rope_type: z.literal('linear'), factor }),
  z.object({
    rope_type: z.literal('llama3'),
    factor,
    low_freq_factor: z.number().positive(),
    high_freq_factor: z.number().positive(),
    original_max_position_embeddings: z.int().positive(),
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
  /** Frequency `i` is divided by factor `i`: llama3 scaling as GGUF files have it. Shape: `[headSize / 2]`. */
  | { readonly kind: 'factors'; readonly factors: readonly number[] };

export interface RopeConfig {
  /** Base of the geometric series of frequencies. */
  readonly theta: number;
  readonly scaling: RopeScaling;
}

export const SUPPORTED_ROPE_TYPES = ['default', 'linear', 'llama3'] as const;

/** A parsed block of RoPE settings, or its fault: invalid, or valid but unsupported. */
export type RopeResult =
  | { readonly kind: 'valid'; readonly scaling: RopeScaling; readonly theta: number | undefined }
  | { readonly kind: 'invalid'; readonly path: string; readonly fault: string }
  | { readonly kind: 'unsupported'; readonly path: string; readonly fault: string };

/** Reads the object under `rope_scaling` or `rope_parameters`; `type` is the older name of `rope_type`. */
export function parseRopeSettings(value: Readonly<Record<string, unknown>>): RopeResult {
  // Nested settings per kind of layer.
  const nested = Object.entries(value).find(([, entry]) => isObject(entry));
  if (nested !== undefined) {
    return { kind: 'unsupported', path: nested[0], fault: 'is an object; all layers must share one setting' };
  }
  const type = value.rope_type ?? value.type ?? 'default';
  if (!(SUPPORTED_ROPE_TYPES as readonly unknown[]).includes(type)) {
    const fault = `is ${JSON.stringify(type)}; allowed are ${SUPPORTED_ROPE_TYPES.join(', ')}`;
    return { kind: 'unsupported', path: 'rope_type', fault };
  }
  if (value.partial_rotary_factor !== undefined && value.partial_rotary_factor !== 1) {
    return { kind: 'unsupported', path: 'partial_rotary_factor', fault: 'must be absent or 1' };
  }
  const parsed = ropeSettings.safeParse({ ...value, rope_type: type });
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    return { kind: 'invalid', path: issue.path.join('.'), fault: issue.message };
  }
  const theta = z.number().positive().optional().safeParse(value.rope_theta);
  if (!theta.success) return { kind: 'invalid', path: 'rope_theta', fault: 'must be a number above 0' };
  const settings = parsed.data;
  if (settings.rope_type === 'llama3' && settings.high_freq_factor <= settings.low_freq_factor) {
    return { kind: 'invalid', path: 'high_freq_factor', fault: 'must be above low_freq_factor' };
  }
  return { kind: 'valid', scaling: toScaling(settings), theta: theta.data };
}

function toScaling(settings: z.infer<typeof ropeSettings>): RopeScaling {
  switch (settings.rope_type) {
    case 'default':
      return { kind: 'none' };
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
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
