// Products that ONNX Runtime's WebGPU provider computes together with the RMS norm in front of them, as one operator: MatMulNBitsQkv and
// MatMulNBitsMlp. It finds them in a graph by their shape: 4 bits in blocks of 32 without zero points, one product for each matrix, and a
// norm that nothing else reads. A graph without them has one product for several matrices, which is faster elsewhere.
// Source: ONNX Runtime 1.30, core/optimizer/matmul_nbits_mlp_fusion.cc and matmul_nbits_qkv_fusion.cc

import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { LayerNorm } from '../hugging-face/decoder-weights.ts';
import type { LayerMatrix } from '../hugging-face/layer-matrices.ts';
import { type BlockContext, isSymmetric, weightBits } from './block-context.ts';
import { projectedParts } from './head-norm.ts';

type FusedContext = Pick<BlockContext, 'config' | 'weights' | 'precision' | 'variant' | 'skewed'>;

/** Queries, keys and values. */
export function fusesQueryKeyValue(context: FusedContext, layer: number): boolean {
  const { config, weights } = context;
  const parts = projectedParts(config, layer);
  // The operator finds queries by their number of rows.
  const differ = config.headCount !== config.layers[layer]!.kvHeadCount;
  const hasBias = parts.some(part => weights.bias(layer, part) !== undefined);
  return parts.length === 3 && differ && !hasBias && isFused(context, layer, 'beforeAttention', parts);
}

/** Gates and ups, with the activation. */
export function fusesGatedMlp(context: FusedContext, layer: number): boolean {
  const { isGated, activation } = context.config;
  return isGated && activation === 'silu' && isFused(context, layer, 'beforeMlp', ['gate', 'up']);
}

function isFused(
  context: FusedContext,
  layer: number,
  place: LayerNorm,
  parts: readonly LayerMatrix[],
): boolean {
  const { config, weights, precision } = context;
  const matrices = parts.map(part => weights.matrix(layer, part));
  return (
    weightBits(precision, matrices) === 4 &&
    isSymmetric(context, matrices) &&
    readsOwnNorm(config) &&
    weights.norm(layer, place) !== undefined
  );
}

/** Attention and MLP side by side read one norm. */
function readsOwnNorm({ norm, isParallel }: DecoderConfig): boolean {
  return norm.kind === 'rms' && !isParallel;
}
