// Where a model's norms of queries and keys are computed on CUDA, by its config.json alone: what `fuseHeadNorms` makes of its graph.

import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { variantFault } from './variant-fault.ts';

/** `inside`: the attention computes them; `apart`: operators of their own do, as on other GPUs. */
export type CudaNorms = 'inside' | 'apart';

/** Undefined for a model without such norms, and for one that PagedAttention cannot compute. */
export function cudaNorms(config: DecoderConfig): CudaNorms | undefined {
  const { queryKeyNorm, norm } = config;
  if (queryKeyNorm === 'none' || variantFault('paged', config) !== undefined) return undefined;
  return queryKeyNorm === 'head' && norm.epsilon > 0 ? 'inside' : 'apart';
}
