// The matrices of a layer by role: their shapes, and which of them have a bias.

import { assertInvariant } from '../errors.ts';
import { convolvedSize, type DecoderConfig, rememberedSize } from './decoder-config.ts';
import { isLatentMatrix, type LatentMatrix, latentMatrixShape } from './latent-attention.ts';

export type LayerMatrix =
  | 'query'
  | 'key'
  | 'value'
  | 'attentionOutput'
  | 'gate'
  | 'up'
  | 'down'
  | 'perLayerGate'
  | 'perLayerProjection'
  | LatentMatrix
  | MemoryMatrix;
export type MemoryMatrix = 'memoryInput' | 'memoryGate' | 'memoryBeta' | 'memoryDecay' | 'memoryOutput';

/** Module of each matrix of a recurrent layer, in `ModuleNames.memory`. */
export const MEMORY_MODULES = {
  memoryInput: 'input',
  memoryGate: 'gate',
  memoryBeta: 'beta',
  memoryDecay: 'decay',
  memoryOutput: 'output',
} as const satisfies Record<MemoryMatrix, string>;

/** Whether a matrix belongs to the recurrent part of a layer. */
export function isMemoryMatrix(role: LayerMatrix): role is MemoryMatrix {
  return Object.hasOwn(MEMORY_MODULES, role);
}

/** `[outputs, inputs]`. */
export function matrixShape(
  config: DecoderConfig,
  layer: number,
  role: LayerMatrix,
): readonly [number, number] {
  const { headCount, hiddenSize, layers, perLayerInput, gatesAttention, latent } = config;
  if (isMemoryMatrix(role)) return memoryMatrixShape(config, layer, role);
  if (isLatentMatrix(role)) return latentMatrixShape(latent!, role, config);
  const { headSize, kvHeadCount, intermediateSize } = layers[layer]!;
  switch (role) {
    case 'query':
      if (latent !== undefined)
        return [headCount * (latent.plainSize + latent.rotatedSize), latent.queryRank ?? hiddenSize];
      return [headCount * headSize * (gatesAttention ? 2 : 1), hiddenSize];
    case 'key':
    case 'value':
      return [kvHeadCount * headSize, hiddenSize];
    case 'attentionOutput':
      return [hiddenSize, headCount * (latent?.valueSize ?? headSize)];
    case 'gate':
    case 'up':
      return [intermediateSize, hiddenSize];
    case 'down':
      return [hiddenSize, intermediateSize];
    case 'perLayerGate':
      return [perLayerInput!.size, hiddenSize];
    case 'perLayerProjection':
      return [hiddenSize, perLayerInput!.size];
  }
}

function memoryMatrixShape(
  config: DecoderConfig,
  layer: number,
  role: MemoryMatrix,
): readonly [number, number] {
  const { hiddenSize } = config;
  const memory = config.layers[layer]!.memory!;
  const size = rememberedSize(memory, hiddenSize);
  if (role === 'memoryOutput') return [hiddenSize, size];
  if (memory.kind === 'short-convolution') {
    assertInvariant(role === 'memoryInput', 'a short convolution has one matrix before it');
    return [3 * hiddenSize, hiddenSize];
  }
  if (role === 'memoryInput') return [convolvedSize(memory, hiddenSize), hiddenSize];
  const heads = memory.kind === 'mamba-2' ? memory.headCount : memory.valueHeadCount;
  return [role === 'memoryGate' ? size : heads, hiddenSize];
}

/** Whether a matrix has a bias. */
export function hasBias(config: DecoderConfig, layer: number, role: LayerMatrix): boolean {
  if (isMemoryMatrix(role)) {
    const { memory } = config.layers[layer]!;
    return memory !== undefined && memory.kind !== 'gated-delta-net' && memory.hasBias;
  }
  switch (role) {
    case 'query':
    case 'key':
    case 'value':
      return config.qkvBias;
    case 'attentionOutput':
      return config.attentionOutputBias;
    case 'gate':
    case 'up':
    case 'down':
      return config.mlpBias;
    case 'perLayerGate':
    case 'perLayerProjection':
    case 'queryLatent':
    case 'keyValueLatent':
    case 'headKeys':
    case 'headValues':
      return false;
  }
}
