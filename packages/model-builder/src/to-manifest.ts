// The manifest of a build, from the configuration of the model and what the build found out.

import { GRAPH_FORMAT_VERSION } from '@ortler/engine/graph-contract';
import type { BuildManifest } from './build-manifest.ts';
import type { DecoderConfig } from './hugging-face/decoder-config.ts';
import { longRopeChoice } from './hugging-face/long-rope.ts';
import { findLayerCaches } from './layer-caches.ts';
import { GRAPH_FILE } from './write-graph.ts';

export function toManifest(
  config: DecoderConfig,
  facts: Pick<
    BuildManifest,
    | 'variant'
    | 'cudaGraphFile'
    | 'precision'
    | 'kvType'
    | 'contentHash'
    | 'parameterCount'
    | 'experts'
    | 'weightFormats'
    | 'weightError'
    | 'fileTypes'
    | 'files'
  >,
): BuildManifest {
  const { modelType, layerCount, headCount, kvHeadCount, headSize, hiddenSize, vocabSize, contextLength } =
    config;
  const longRope = longRopeChoice(config);
  const layerCaches = findLayerCaches(facts.variant, config);
  return {
    formatVersion: GRAPH_FORMAT_VERSION,
    modelType,
    graphFile: GRAPH_FILE,
    layerCount,
    headCount,
    kvHeadCount,
    headSize,
    ...(layerCaches && { layerCaches }),
    hiddenSize,
    vocabSize,
    contextLength,
    ...(longRope !== undefined && { longRope }),
    ...facts,
  };
}
