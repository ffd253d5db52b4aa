// What a build in q4 loses in its weights, for its manifest.

import { isSuperBlockFormat } from '@ortler/kernels';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import { movableCodes } from '../weights/move-codes.ts';
import { relativeError, sampleBlocks, sampledTensors } from '../weights/sample-error.ts';
import type { MatrixFormats } from './choose-formats.ts';
import { decoderMatrices } from './decoder-matrices.ts';

/**
 * Root mean square of the differences between the written and the original weights of all matrices, relative to that of the weights:
 * 0.05 is 5 %. It is measured on the samples that `chooseFormats` takes.
 *
 * Throws: as `WeightSource.tensor` and `CheckpointTensor.readFloats`, or the reason of `signal`.
 */
export async function measureWeightError(
  weights: DecoderWeights,
  config: DecoderConfig,
  formats: MatrixFormats,
  signal: AbortSignal | undefined,
): Promise<number> {
  let [squares, errors] = [0, 0];
  for (const { name, tensors } of decoderMatrices(config)) {
    const format = formats.get(name)!;
    const all = tensors(weights);
    const sampled = sampledTensors(all);
    for (const tensor of sampled) {
      signal?.throwIfAborted();
      const sample = await sampleBlocks(tensor);
      const meanSquare = sample.reduce((sum, value) => sum + value * value, 0) / sample.length;
      const shown = (meanSquare * all.length) / sampled.length;
      const square = tensor.shape.reduce((product, size) => product * size, shown);
      const isExact =
        format === 'f32' || isSuperBlockFormat(format) || movableCodes(tensor, format) !== undefined;
      squares += square;
      errors += isExact ? 0 : square * relativeError(format, sample) ** 2;
    }
  }
  return squares === 0 ? 0 : Math.sqrt(errors / squares);
}
