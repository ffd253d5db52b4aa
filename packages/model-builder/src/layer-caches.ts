// The caches of a model's layers as the manifest has them.

import type { GraphVariant, LayerCache } from '@ortler/engine/graph-contract';
import { type DecoderConfig, type LayerConfig, stateShapes } from './hugging-face/decoder-config.ts';

type Layers = Pick<
  DecoderConfig,
  'layers' | 'kvHeadCount' | 'headSize' | 'hiddenSize' | 'contextLength' | 'latent'
>;

/**
 * The cache of each layer; undefined where all are alike. ONNX Runtime's operators append to a cache of each layer and keep all tokens
 * of it, so windows and shared caches are only those of `kernels` graphs.
 */
export function findLayerCaches(
  variant: GraphVariant,
  { layers, kvHeadCount, headSize, hiddenSize, contextLength, latent }: Layers,
): readonly LayerCache[] | undefined {
  const caches = layers.map(layer => toCache(variant, layer, { contextLength, hiddenSize, latent }));
  const isPlain = (cache: LayerCache) =>
    cache.kvHeadCount === kvHeadCount &&
    cache.headSize === headSize &&
    cache.window === undefined &&
    cache.kvSource === undefined &&
    cache.states === undefined &&
    cache.keysOnly === undefined;
  return caches.every(isPlain) ? undefined : caches;
}

function toCache(
  variant: GraphVariant,
  { kvHeadCount, headSize, window, kvSource, recurrent, hasAttention }: LayerConfig,
  { contextLength, hiddenSize, latent }: Pick<Layers, 'contextLength' | 'hiddenSize' | 'latent'>,
): LayerCache {
  if (variant !== 'kernels') return { kvHeadCount, headSize };
  return {
    kvHeadCount,
    headSize,
    ...(window !== undefined && window < contextLength && { window }),
    ...(kvSource !== undefined && { kvSource }),
    ...(recurrent !== undefined && { states: stateShapes(recurrent, hiddenSize) }),
    ...(recurrent !== undefined && hasAttention && { hasKeys: true }),
    // Latent rows.
    ...(latent !== undefined && { keysOnly: true }),
    // An MLP alone.
    ...(recurrent === undefined && !hasAttention && { states: [] }),
  };
}
