// The formats of a build that keeps the values of its file: each matrix has the format of the file's codes.

import { isSuperBlockFormat, type QuantisedFormat, type WeightFormat } from '@ortler/kernels';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import { holdsCodes } from '../stored-codes.ts';
import type { MatrixFormats } from './choose-formats.ts';
import { decoderMatrices } from './decoder-matrices.ts';

/** For types whose codes no format holds: their values are fitted. It loses least. */
export const FITTED: QuantisedFormat = 'q8';

/** Throws: as `WeightSource.tensor`. */
export function fileFormats(weights: DecoderWeights, config: DecoderConfig): MatrixFormats {
  const formats = new Map<string, WeightFormat>();
  /** Of the matrices that one product multiplies with. */
  let products: string[] = [];
  for (const { role, name, tensors } of decoderMatrices(config)) {
    const own = tensors(weights).map(formatOf);
    formats.set(name, own.reduce(commonFormat));
    if (role === 'query') products = [];
    if (role === 'query' || role === 'key' || role === 'value') products.push(name);
    if (role === 'value') joinFloats(products, formats);
  }
  return formats;
}

function formatOf({ quantised }: CheckpointTensor): WeightFormat {
  if (quantised === undefined) return 'f32';
  return quantised.codes?.format ?? quantised.superBlocks?.format ?? FITTED;
}

/** The smallest format that holds the values of both; where there is none, the one that they are fitted to. */
export function commonFormat(a: WeightFormat, b: WeightFormat): WeightFormat {
  if (a === b) return a;
  if (a === 'f32' || b === 'f32') return 'f32';
  if (isSuperBlockFormat(a) || isSuperBlockFormat(b)) return FITTED;
  if (holdsCodes(a, b)) return a;
  return holdsCodes(b, a) ? b : FITTED;
}

/** A product has float32 matrices only or none, and float32 holds the values of every format. Mutates: `formats`. */
function joinFloats(names: readonly string[], formats: Map<string, WeightFormat>): void {
  if (names.some(name => formats.get(name) === 'f32')) for (const name of names) formats.set(name, 'f32');
}
