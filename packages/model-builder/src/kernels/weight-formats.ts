// The formats of matrices and activations in builds whose precision alone decides them. `choose-formats.ts` decides those of q4.

import type { Precision } from '@ortler/engine/graph-contract';
import type { WeightFormat } from '@ortler/kernels';

/** The format of all matrices. */
export function uniformFormat(precision: Exclude<Precision, 'q4'>): WeightFormat {
  return precision === 'q8' ? 'q8' : 'f32';
}

/**
 * Bits of the activations in products with quantised weights. With 8 the rounding of activations is most of what a build in 8
 * bits loses (ADR 45); 16 take twice the multiplications, which a single row does not notice.
 */
export function activationBits(precision: Precision): 8 | 16 {
  return precision === 'q8' ? 16 : 8;
}
