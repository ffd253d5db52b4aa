// Checkpoints with dequantised weights, the reference of quantised builds.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createTinyCheckpoint,
  seededTensors,
  type TinyCheckpointOptions,
} from '../src/testing/tiny-model.ts';
import { writeSafetensors } from '../src/testing/write-safetensors.ts';
import type { FloatType } from '../src/weights/float16.ts';
import {
  allocateQuantisedRows,
  type BlockFormat,
  quantiseRows4,
  quantiseRows8,
} from '../src/weights/quantise.ts';
import { dequantiseRows } from './dequantise.ts';

/** Between them: every architecture, biases, norms of heads, tied and separate heads, sizes that are not whole blocks. */
export const QUANTISED_SHAPES: readonly (TinyCheckpointOptions & { readonly label: string })[] = [
  { label: 'llama, tied', modelType: 'llama' },
  {
    label: 'llama, biases, sizes that are not whole blocks',
    modelType: 'llama',
    config: {
      attention_bias: true,
      mlp_bias: true,
      hidden_size: 80,
      intermediate_size: 112,
      num_attention_heads: 5,
      num_key_value_heads: 5,
    },
  },
  { label: 'qwen2, separate head', modelType: 'qwen2', config: { tie_word_embeddings: false } },
  { label: 'qwen3, wide heads', modelType: 'qwen3', config: { head_dim: 32 } },
];

/** Names of matrices that one product may have. */
const STACKED = [/(q|k|v)_proj/, /(gate|up)_proj/];

/**
 * Whether a matrix of a build for GPUs has 4-bit codes without zero points: neither it nor another one of the same product is in `skewed`.
 */
export function isSymmetricIn(skewed: ReadonlySet<string>): (name: string) => boolean {
  const productOf = (name: string) =>
    STACKED.reduce((product, part) => product.replace(part, String(part)), name);
  const products = new Set([...skewed].map(productOf));
  return name => !products.has(productOf(name));
}

/** The same checkpoint with every matrix quantised and dequantised. `isSymmetric`: by the name of a matrix in 4 bits. */
export async function writeDequantised(
  target: string,
  shape: TinyCheckpointOptions,
  { bits, blockSize }: Pick<BlockFormat, 'bits' | 'blockSize'>,
  {
    scaleType = 'float32',
    isSymmetric = () => false,
  }: { readonly scaleType?: FloatType; readonly isSymmetric?: (name: string) => boolean } = {},
): Promise<void> {
  const config = await createTinyCheckpoint(target, shape);
  const tensors = seededTensors(config, 1).map(tensor => {
    if (tensor.shape.length === 1) return tensor;
    const [rows, width] = tensor.shape as [number, number];
    const values = new Float32Array(rows * width);
    tensor.fill(values, 0);
    const isTable = tensor.name === 'model.embed_tokens.weight' || tensor.name === 'lm_head.weight';
    const used = isTable ? 8 : bits;
    const quantised = allocateQuantisedRows(rows, width, {
      bits: used,
      blockSize,
      isSymmetric: used === 4 && isSymmetric(tensor.name),
    });
    (used === 4 ? quantiseRows4 : quantiseRows8)(values, width, quantised, scaleType);
    const dequantised = dequantiseRows(quantised, width);
    const fill = (piece: Float32Array, start: number) =>
      piece.set(dequantised.subarray(start, start + piece.length));
    return { ...tensor, fill };
  });
  await mkdir(target, { recursive: true });
  await writeSafetensors(join(target, 'model.safetensors'), 'F32', tensors);
}
