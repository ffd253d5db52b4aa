// Multi-head latent attention (MLA): all heads share one key, a latent row of which each head's keys and values are products, and a
// few channels after the rotation. Names and shapes of its matrices in a checkpoint, and those that a graph multiplies with.
// Source: arXiv 2405.04434; transformers, models/deepseek_v3/modeling_deepseek_v3.py

import type { CheckpointTensor } from './checkpoint-tensor.ts';
import type { RecentMatrices } from './recent-matrices.ts';
import { type RowBlock, rowBlocks } from './row-blocks.ts';
import { flatRows } from './tensor-rows.ts';

export interface LatentAttention {
  /** Elements between the two matrices of queries; undefined for a single matrix. */
  readonly queryRank: number | undefined;
  /** Elements of a latent row. */
  readonly rank: number;
  /** Channels of a head that are not rotated, and that come first in a checkpoint. */
  readonly plainSize: number;
  /** Channels of a head that are rotated. */
  readonly rotatedSize: number;
  /** Channels of a head's values. */
  readonly valueSize: number;
  /** Epsilon of the norms of both latent rows. */
  readonly epsilon: number;
}

/**
 * `queryLatent`: to the latent row of queries. `keyValueLatent`: to the rotated channels, then the latent row of keys and values.
 * `headKeys`: of each head, from its query's plain channels to a latent row. `headValues`: of each head, from a latent row to values.
 */
export type LatentMatrix = 'queryLatent' | 'keyValueLatent' | 'headKeys' | 'headValues';

const MODULES = {
  queryLatent: 'self_attn.q_a_proj',
  keyValueLatent: 'self_attn.kv_a_proj_with_mqa',
  headKeys: 'self_attn.kv_b_proj',
  headValues: 'self_attn.kv_b_proj',
} as const satisfies Record<LatentMatrix, string>;

/** GGUF files have the matrices of heads as they are multiplied with. Shape: `[heads, outputs, inputs]`. */
const SPLIT_MODULES = { headKeys: 'self_attn.k_b_proj', headValues: 'self_attn.v_b_proj' } as const;

/** Norms of the latent rows. */
export const LATENT_NORMS = {
  queryLatent: 'self_attn.q_a_layernorm',
  keyValueLatent: 'self_attn.kv_a_layernorm',
} as const;

export function isLatentMatrix(role: string): role is LatentMatrix {
  return Object.hasOwn(MODULES, role);
}

interface Sizes {
  readonly headCount: number;
  readonly hiddenSize: number;
}

/** `[outputs, inputs]`; of matrices with a block for each head those of all heads, one after the other. */
export function latentMatrixShape(
  { queryRank, rank, plainSize, rotatedSize, valueSize }: LatentAttention,
  role: LatentMatrix,
  { headCount, hiddenSize }: Sizes,
): readonly [number, number] {
  switch (role) {
    case 'queryLatent':
      return [queryRank!, hiddenSize];
    case 'keyValueLatent':
      return [rotatedSize + rank, hiddenSize];
    case 'headKeys':
      return [headCount * rank, plainSize];
    case 'headValues':
      return [headCount * valueSize, rank];
  }
}

/** Matrices of a layer, by their modules. */
export interface LatentSource {
  has(module: string): boolean;
  open(module: string, shape: readonly number[]): CheckpointTensor;
  readonly recent: RecentMatrices;
}

/** The matrix as a graph has it. */
export function latentMatrix(
  latent: LatentAttention,
  role: LatentMatrix,
  { headCount, hiddenSize }: Sizes,
  { has, open, recent }: LatentSource,
): CheckpointTensor {
  const { rank, plainSize, rotatedSize, valueSize } = latent;
  if (role === 'queryLatent')
    return open(MODULES[role], latentMatrixShape(latent, role, { headCount, hiddenSize }));
  if (role === 'keyValueLatent') {
    const stored = open(MODULES[role], [rank + rotatedSize, hiddenSize]);
    // The rotation begins at the first channel of a head.
    return rowBlocks(stored, [
      { first: rank, count: rotatedSize },
      { first: 0, count: rank },
    ]);
  }
  const split = SPLIT_MODULES[role];
  if (has(split)) {
    const [outputs, inputs] = latentMatrixShape(latent, role, { headCount, hiddenSize });
    return flatRows(open(split, [headCount, outputs / headCount, inputs]));
  }
  const headRows = plainSize + valueSize;
  const stored = open(MODULES[role], [headCount * headRows, rank]);
  const rowsOf = (first: number, count: number): RowBlock[] =>
    Array.from({ length: headCount }, (_, head) => ({ first: head * headRows + first, count }));
  if (role === 'headValues') return rowBlocks(stored, rowsOf(plainSize, valueSize));
  return transposedHeads(rowBlocks(stored, rowsOf(0, plainSize)), headCount, recent);
}

/** Each head's rows as columns, without codes: they are read as a whole. */
function transposedHeads(
  { name, shape, quantised, readFloats }: CheckpointTensor,
  headCount: number,
  recent: RecentMatrices,
): CheckpointTensor {
  const [rowCount, outputs] = shape as readonly [number, number];
  const inputs = rowCount / headCount;
  const size = inputs * outputs;
  const head = (index: number) =>
    recent.get(`${name}, head ${index}`, async () => {
      const values = new Float32Array(size);
      await readFloats(index * size, values);
      return values;
    });
  return {
    name: `${name}, transposed`,
    shape: [headCount * outputs, inputs],
    ...(quantised === undefined ? {} : { quantised: { type: quantised.type, codes: undefined } }),
    async readFloats(from, target) {
      for (let at = 0; at < target.length; ) {
        const index = Math.floor((from + at) / size);
        const values = await head(index);
        const end = Math.min(target.length, (index + 1) * size - from);
        for (; at < end; at++) {
          const place = (from + at) % size;
          target[at] = values[(place % inputs) * outputs + Math.floor(place / inputs)]!;
        }
      }
    },
  };
}
