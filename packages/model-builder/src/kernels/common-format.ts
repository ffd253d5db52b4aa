// The common format of matrices that are joined to one, or that share a product.

import { isSuperBlockFormat, type QuantisedFormat, type WeightFormat } from '@ortler/kernels';
import { holdsCodes } from '../stored-codes.ts';

/** For types whose codes no format holds: their values are fitted. It loses least. */
export const FITTED: QuantisedFormat = 'q8';

/** The smallest format that holds the values of both; where there is none, the one that they are fitted to. */
export function commonFormat(a: WeightFormat, b: WeightFormat): WeightFormat {
  if (a === b) return a;
  if (a === 'f32' || b === 'f32') return 'f32';
  if (isSuperBlockFormat(a) || isSuperBlockFormat(b)) return FITTED;
  if (holdsCodes(a, b)) return a;
  return holdsCodes(b, a) ? b : FITTED;
}
