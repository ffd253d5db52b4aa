// The formats of matrices in builds whose precision alone decides them, and those of activations. `choose-formats.ts` decides
// the matrices of q4, `file-formats.ts` those of `file`.

import type { Precision } from '@ortler/engine/graph-contract';
import type { WeightFormat } from '@ortler/kernels';
import type { MatrixRole } from './decoder-matrices.ts';

/** The format of all matrices but routers. */
export function uniformFormat(precision: Exclude<Precision, 'q4' | 'file'>, role: MatrixRole): WeightFormat {
  if (role === 'router') return 'f32';
  return precision === 'q8' ? 'q8' : 'f32';
}

/**
 * Bits of the activations in products with quantised weights. With 8 the rounding of activations is most of what a build in 8
 * bits loses (ADR 45); 16 take twice the multiplications, which a single row does not notice. In a build that keeps the formats
 * of a file this holds for each product.
 */
export function activationBits(
  precision: Precision,
  matrices: readonly { readonly format: WeightFormat }[],
): 8 | 16 {
  if (precision === 'file') return matrices.some(({ format }) => format === 'q8') ? 16 : 8;
  return precision === 'q8' ? 16 : 8;
}
