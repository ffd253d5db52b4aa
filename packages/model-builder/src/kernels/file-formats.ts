// The formats of a build that keeps the values of its file: each matrix has the format of the file's codes.

import type { WeightFormat } from '@ortler/kernels';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import type { MatrixFormats } from './choose-formats.ts';
import { commonFormat, FITTED } from './common-format.ts';
import { decoderMatrices } from './decoder-matrices.ts';

/** Throws: as `WeightSource.tensor`. */
export function fileFormats(weights: DecoderWeights, config: DecoderConfig): MatrixFormats {
  const formats = new Map<string, WeightFormat>();
  /** Names of the matrices that one product multiplies with. */
  let products: string[] = [];
  for (const { role, name, isAlone = false, tensors } of decoderMatrices(config)) {
    const own = tensors(weights).map(formatOf);
    formats.set(name, role === 'router' ? 'f32' : own.reduce(commonFormat));
    if (isAlone) continue;
    if (role === 'query') products = [];
    if (role === 'query' || role === 'key' || role === 'value') products.push(name);
    if (role === 'attentionOutput') joinFloats(products, formats);
  }
  return formats;
}

function formatOf({ quantised }: CheckpointTensor): WeightFormat {
  if (quantised === undefined) return 'f32';
  return quantised.codes?.format ?? quantised.superBlocks?.format ?? FITTED;
}

/** A product has float32 matrices only or none, and float32 holds the values of every format. Mutates: `formats`. */
function joinFloats(names: readonly string[], formats: Map<string, WeightFormat>): void {
  if (names.some(name => formats.get(name) === 'f32')) for (const name of names) formats.set(name, 'f32');
}
