// The matrices of a layer by role: their shapes, and which of them have a bias.

import { assertInvariant } from '../errors.ts';
import { convolvedSize, type DecoderConfig, recurrentOutputSize } from './decoder-config.ts';
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
  | RecurrentMatrix;
export type RecurrentMatrix =
  | 'recurrentInput'
  | 'recurrentGate'
  | 'recurrentBeta'
  | 'recurrentDecay'
  | 'recurrentOutput';

/** Module of each matrix of a recurrent layer, in `ModuleNames.recurrent`. */
export const RECURRENT_MODULES = {
  recurrentInput: 'input',
  recurrentGate: 'gate',
  recurrentBeta: 'beta',
  recurrentDecay: 'decay',
  recurrentOutput: 'output',
} as const satisfies Record<RecurrentMatrix, string>;

/** Whether a matrix belongs to the recurrent part of a layer. */
export function isRecurrentMatrix(role: LayerMatrix): role is RecurrentMatrix {
  return Object.hasOwn(RECURRENT_MODULES, role);
}

/** `[outputs, inputs]`. */
export function matrixShape(
  config: DecoderConfig,
  layer: number,
  role: LayerMatrix,
): readonly [number, number] {
  const { headCount, hiddenSize, layers, perLayerInput, gatesAttention, latent } = config;
  if (isRecurrentMatrix(role)) return recurrentMatrixShape(config, layer, role);
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

function recurrentMatrixShape(
  config: DecoderConfig,
  layer: number,
  role: RecurrentMatrix,
): readonly [number, number] {
  const { hiddenSize } = config;
  const recurrent = config.layers[layer]!.recurrent!;
  const size = recurrentOutputSize(recurrent, hiddenSize);
  if (role === 'recurrentOutput') return [hiddenSize, size];
  if (recurrent.kind === 'short-convolution') {
    assertInvariant(role === 'recurrentInput', 'a short convolution has one matrix before it');
    return [3 * hiddenSize, hiddenSize];
  }
  if (role === 'recurrentInput') return [convolvedSize(recurrent, hiddenSize), hiddenSize];
  const heads = recurrent.kind === 'mamba-2' ? recurrent.headCount : recurrent.valueHeadCount;
  return [role === 'recurrentGate' ? size : heads, hiddenSize];
}

/** Whether a matrix has a bias. */
export function hasBias(config: DecoderConfig, layer: number, role: LayerMatrix): boolean {
  if (isRecurrentMatrix(role)) {
    const { recurrent } = config.layers[layer]!;
    return recurrent !== undefined && recurrent.kind !== 'gated-delta-net' && recurrent.hasBias;
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
