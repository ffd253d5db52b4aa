// The shared context of all blocks: recorder, configuration, weights, precision and graph variant.

import type { KvType, Precision } from '@ortler/engine/graph-contract';
import type { GraphRecorder } from '@ortler/onnx';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { DecoderWeights } from '../hugging-face/decoder-weights.ts';
import type { CodeBits } from '../weights/quantise.ts';
import type { Variant } from './variant.ts';

/** What blocks need that all graphs have, those of the CPU kernels included. */
export interface GraphContext {
  readonly graph: GraphRecorder;
  readonly config: DecoderConfig;
  /** Type of activations, and of weights that are not quantised. */
  readonly activation: Variant['activation'];
}

export interface BlockContext extends GraphContext {
  readonly weights: DecoderWeights;
  readonly precision: Precision;
  readonly kvType: KvType;
  readonly variant: Variant;
  /** Names of the checkpoint's matrices that lose too much in 4 bits without zero points; see `find-skewed-matrices.ts`. */
  readonly skewed: ReadonlySet<string>;
}

/** Whether the product of these matrices, in 4 bits, has no zero points. */
export function isSymmetric(
  { variant, skewed }: Pick<BlockContext, 'variant' | 'skewed'>,
  matrices: readonly CheckpointTensor[],
): boolean {
  return variant.prefersSymmetric && !matrices.some(({ name }) => skewed.has(name));
}

/** Bits of quantised weights; undefined for weights in the type of the activations. */
export function weightBits(
  precision: Precision,
  matrices: readonly CheckpointTensor[],
): CodeBits | undefined {
  if (precision === 'file') return fileBits(matrices);
  if (precision === 'q4') return 4;
  return precision === 'q8' ? 8 : undefined;
}

/** Floats stay floats, codes of 4 bits without minimums stay codes of 4 bits; all others take 8 bits. */
function fileBits(matrices: readonly CheckpointTensor[]): CodeBits | undefined {
  if (matrices.some(({ quantised }) => quantised === undefined)) return undefined;
  return matrices.every(({ quantised }) => quantised?.codes?.format === 'q4') ? 4 : 8;
}

/** Name of a weight, in the style of checkpoints: `model.layers.3.attn.qkv_proj.weight`. */
export function weightName(path: string, part: string): string {
  return `${path.slice(1).replaceAll('/', '.')}.${part}`;
}
