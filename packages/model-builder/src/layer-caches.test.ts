import { describe, expect, it } from 'vitest';
import type { DecoderConfig, LayerConfig } from './hugging-face/decoder-config.ts';
import { findLayerCaches } from './layer-caches.ts';

const LAYER: LayerConfig = {
  rope: 0,
  window: undefined,
  headSize: 64,
  kvHeadCount: 2,
  intermediateSize: 256,
  hasExperts: false,
  valuesAreKeys: false,
  kvSource: undefined,
  recurrent: undefined,
  hasAttention: true,
};

const MODEL: Omit<Parameters<typeof findLayerCaches>[1], 'layers'> = {
  kvHeadCount: 2,
  headSize: 64,
  hiddenSize: 96,
  contextLength: 4096,
  latent: undefined,
};

function cachesOf(variant: 'kernels' | 'slots', ...layers: readonly Partial<LayerConfig>[]) {
  return findLayerCaches(variant, { ...MODEL, layers: layers.map(layer => ({ ...LAYER, ...layer })) });
}

describe('findLayerCaches', () => {
  it('says nothing of layers that are all alike', () => {
    expect(cachesOf('kernels', {}, {})).toBeUndefined();
  });

  it('names windows and sources of shared caches', () => {
    expect(cachesOf('kernels', { window: 512 }, {}, { window: 512, kvSource: 0 })).toEqual([
      { kvHeadCount: 2, headSize: 64, window: 512 },
      { kvHeadCount: 2, headSize: 64 },
      { kvHeadCount: 2, headSize: 64, window: 512, kvSource: 0 },
    ]);
  });

  it('has states in place of keys and values for recurrent layers', () => {
    const sizes = { kvHeadCount: 2, headSize: 64 };
    const delta = { keyHeadCount: 2, keySize: 32, valueHeadCount: 4, valueSize: 16 };
    const caches = cachesOf(
      'kernels',
      { hasAttention: false, recurrent: { kind: 'short-convolution', kernel: 3, hasBias: false } },
      {},
      {
        hasAttention: false,
        recurrent: { kind: 'gated-delta-net', kernel: 4, keysInTurns: false, ...delta },
      },
    );
    expect(caches).toEqual([
      { ...sizes, states: [[2, 96]] },
      sizes,
      {
        ...sizes,
        states: [
          [3, 192],
          [4, 32, 16],
        ],
      },
    ]);
  });

  it('has keys besides states, or neither, where layers have both, or an MLP alone', () => {
    const sizes = { kvHeadCount: 2, headSize: 64 };
    const recurrent = {
      kind: 'mamba-2',
      kernel: 4,
      headCount: 4,
      headSize: 32,
      groupCount: 2,
      stateSize: 16,
      hasConvolutionBias: true,
      hasBias: false,
      leastStep: 0,
      norm: undefined,
      inputScales: { values: 1, keys: 1, queries: 1 },
    } as const;
    const states = [
      [3, 192],
      [4, 16, 32],
    ];
    expect(
      cachesOf('kernels', { recurrent }, { recurrent, hasAttention: false }, { hasAttention: false }, {}),
    ).toEqual([{ ...sizes, states, hasKeys: true }, { ...sizes, states }, { ...sizes, states: [] }, sizes]);
  });

  it('has keys alone for latent attention', () => {
    const latent: DecoderConfig['latent'] = {
      queryRank: undefined,
      rank: 48,
      plainSize: 16,
      rotatedSize: 16,
      valueSize: 16,
      epsilon: 1e-6,
    };
    expect(findLayerCaches('kernels', { ...MODEL, latent, layers: [LAYER] })).toEqual([
      { kvHeadCount: 2, headSize: 64, keysOnly: true },
    ]);
  });

  it('leaves out windows that hold the context', () => {
    expect(cachesOf('kernels', { window: 4096 }, {})).toBeUndefined();
  });

  it('gives layers of ONNX Runtime whole caches of their own', () => {
    expect(cachesOf('slots', { window: 512 }, { kvSource: 0 })).toBeUndefined();
    expect(cachesOf('slots', { headSize: 128 }, { window: 512, kvSource: 0 })).toEqual([
      { kvHeadCount: 2, headSize: 128 },
      { kvHeadCount: 2, headSize: 64 },
    ]);
  });
});
