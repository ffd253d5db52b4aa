// What the blocks of the variant `kernels` share: products with tiled matrices, and the norms in front of them.

import type { KvType, Precision } from '@ortler/engine/graph-contract';
import { type GraphContext, weightName } from '../blocks/block-context.ts';
import { norm } from '../blocks/norm.ts';
import type { PlacedNorm } from '../blocks/residual-stream.ts';
import type { Variant } from '../blocks/variant.ts';
import { assertInvariant } from '../errors.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import type { LayerMatrix } from '../hugging-face/layer-matrices.ts';
import { declareTiles, type TiledMatrix } from '../weights/declare-tiles.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import type { WrittenMatrix } from '../weights/written-matrix.ts';
import type { MatrixFormats } from './choose-formats.ts';
import type { DecoderMatrix } from './decoder-matrices.ts';
import { type ProductOptions, product } from './product.ts';
import { activationBits, uniformFormat } from './weight-formats.ts';

export interface KernelsContext extends GraphContext {
  readonly weights: DecoderWeights;
  readonly precision: Precision;
  readonly kvType: KvType;
  /** Formats of the matrices of a build in q4 or `file`. */
  readonly formats: MatrixFormats | undefined;
  /** Called with each matrix when its last tile is made; its error takes time to measure. */
  readonly onMatrix: ((matrix: WrittenMatrix) => void) | undefined;
}

/** The input of a product, and the norm that the product computes first. */
export type NormedInput = Pick<ProductOptions, 'input' | 'norm'>;

export function multiply(
  context: KernelsContext,
  path: string,
  options: Omit<ProductOptions, 'activationBits'>,
): string {
  const bits = activationBits(context.precision, options.matrices);
  return product(context.graph, path, { ...options, activationBits: bits });
}

/** Declares the matrix in its format. */
export function tiles(context: KernelsContext, matrix: DecoderMatrix): TiledMatrix {
  const { graph, weights, precision, formats, onMatrix } = context;
  const { role, name, interleaved, tensors } = matrix;
  const format =
    precision === 'q4' || precision === 'file' ? formats?.get(name) : uniformFormat(precision, role);
  assertInvariant(format !== undefined, `${name} has a format`);
  return declareTiles(graph, name, tensors(weights), { format, interleaved, onMatrix });
}

/** Values are `[batch, length, size]`. */
export const KERNELS_VARIANT = { positionRank: 2, splitsSequence: false } as const satisfies Partial<Variant>;

/** The biases one after the other, or undefined where the matrices have none. */
export function biases(
  { graph, weights }: KernelsContext,
  path: string,
  layer: number,
  roles: readonly LayerMatrix[],
): string | undefined {
  const found = roles.flatMap(role => weights.bias(layer, role) ?? []);
  return found.length === 0 ? undefined : declareFloats(graph, weightName(path, 'bias'), found, 'float32');
}

/** Products compute RMS norms themselves; others are operators in front of them. */
export function normedInput(
  context: KernelsContext,
  placed: PlacedNorm | undefined,
  input: string,
): NormedInput {
  if (placed === undefined) return { input };
  const { graph, config } = context;
  const { path, weights } = placed;
  if (config.norm.kind !== 'rms') return { input: norm(context, path, input, weights) };
  const weight = declareFloats(graph, weightName(path, 'weight'), [weights.weight], 'float32');
  return { input, norm: { weight, epsilon: config.norm.epsilon } };
}
