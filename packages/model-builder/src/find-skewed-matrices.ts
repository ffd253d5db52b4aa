// Matrices whose blocks are far from symmetric around zero, for which 4-bit codes need zero points.

import type { DecoderConfig } from './hugging-face/decoder-config.ts';
import type { DecoderWeights } from './hugging-face/decoder-weights.ts';
import { decoderMatrices } from './kernels/decoder-matrices.ts';
import { relativeError, sampleBlocks } from './weights/sample-error.ts';

/**
 * How much larger the error may be without zero points. Normally distributed weights lose 8.1 % in symmetric blocks of 32 and 7.7 % with
 * zero points, 1.05 times as much; in blocks of 64 with zero points they lose 8.7 %, 1.12 times as much.
 */
const LARGEST_RATIO = 1.125;

/**
 * Names of tensors, measured on a fixed sample of each, so the same checkpoint has the same. Tables are in 8 bits.
 *
 * Throws: as `WeightSource.tensor` and `CheckpointTensor.readFloats`, or the reason of `signal`.
 */
export async function findSkewedMatrices(
  weights: DecoderWeights,
  config: DecoderConfig,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const skewed = new Set<string>();
  for (const { role, tensors } of decoderMatrices(config)) {
    if (role === 'table') continue;
    signal?.throwIfAborted();
    for (const tensor of tensors(weights)) {
      const sample = await sampleBlocks(tensor);
      const ratio = relativeError('q4', sample) / relativeError('q4-min', sample);
      if (ratio > LARGEST_RATIO) skewed.add(tensor.name);
    }
  }
  return skewed;
}
