// LongRoPE: two sets of factors for the rotary frequencies, of which a build has one, by the longest context that it is for.
//
// transformers changes from the short to the long factors when a sequence crosses the original length, and computes all of its keys
// again. Cached keys cannot follow, so the choice is made once, as in vLLM and llama.cpp.

import type { DecoderConfig } from './decoder-config.ts';
import type { RopeScaling } from './rope.ts';

export type LongRope = Extract<RopeScaling, { readonly kind: 'longrope' }>;

/** What a build of a model with LongRoPE chose. */
export interface LongRopeChoice {
  readonly factors: 'short' | 'long';
  /** Longest context with the short factors. Unit: tokens. */
  readonly originalContextLength: number;
}

export function choosesLongFactors({ originalContextLength }: LongRope, contextLength: number): boolean {
  return contextLength > originalContextLength;
}

/**
 * The configuration of a build for contexts of at most this many tokens, undefined for the longest of the model. Models without
 * LongRoPE are the same for all; with it, the context of a build with short factors ends at the original length.
 */
export function forContext(config: DecoderConfig, contextLength: number | undefined): DecoderConfig {
  const scaling = longRopeOf(config);
  if (scaling === undefined || contextLength === undefined) return config;
  if (choosesLongFactors(scaling, contextLength)) return config;
  return { ...config, contextLength: Math.min(config.contextLength, scaling.originalContextLength) };
}

/** Undefined for a model without LongRoPE. */
export function longRopeChoice(config: DecoderConfig): LongRopeChoice | undefined {
  const scaling = longRopeOf(config);
  if (scaling === undefined) return undefined;
  return {
    factors: choosesLongFactors(scaling, config.contextLength) ? 'long' : 'short',
    originalContextLength: scaling.originalContextLength,
  };
}

function longRopeOf({ ropes }: DecoderConfig): LongRope | undefined {
  return ropes.map(({ scaling }) => scaling).find(scaling => scaling.kind === 'longrope');
}
