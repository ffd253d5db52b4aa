// How far quantised builds of the families' tiny models may be from transformers.

import {
  DECODER_GOLDENS,
  hasExperts,
  hasRecurrentLayers,
} from '../../packages/model-builder/test/decoder-golden.ts';

/** The precisions that are bounded. */
export const PRECISIONS = ['q8', 'q4'] as const;

/**
 * Largest difference of a log probability from transformers in float32, in deviations of the logits. Matrices are a few dozen wide, so
 * that roundings hardly average out.
 */
const BOUNDS = { q8: 0.25, q4: 1 } as const;
/** Gemma 4 does not scale down its scores, so that roundings of queries and keys weigh more. */
const SHARP_BOUNDS = { q8: 0.6, q4: 1.6 } as const;
/** Recurrent layers multiply two or three projections with each other, and their states keep roundings of earlier tokens. */
const RECURRENT_BOUNDS = { q8: 0.5, q4: 2.5 } as const;
/** A rounding may choose another expert, where two score alike: some tokens are then of another computation. */
const ROUTED_BOUNDS = { q8: 1.2, q4: 2 } as const;
/** Both: another expert shows in the state of all later tokens. */
const ROUTED_RECURRENT_BOUNDS = { q8: 2, q4: 2.5 } as const;

export function familyBound(family: string, precision: (typeof PRECISIONS)[number]): number {
  const golden = DECODER_GOLDENS.find(each => each.family === family)!.cases[0]!;
  const isRouted = hasExperts(golden);
  if (hasRecurrentLayers(golden)) return (isRouted ? ROUTED_RECURRENT_BOUNDS : RECURRENT_BOUNDS)[precision];
  if (isRouted) return ROUTED_BOUNDS[precision];
  return (family.startsWith('gemma4') ? SHARP_BOUNDS : BOUNDS)[precision];
}

/** Of the candidates of the token after a prompt, from the logits of transformers. */
export function distanceFromLogits(
  candidates: readonly (readonly [tokenId: number, logprob: number])[],
  logits: readonly number[],
): number {
  const logSum = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
  return Math.max(...candidates.map(([id, logprob]) => Math.abs(logprob - (logits[id]! - logSum))));
}
