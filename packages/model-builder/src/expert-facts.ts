// What a manifest says of mixtures of experts: how many there are, and what of the model a token uses.

import { EXPERT_WEIGHTS, type ExpertFacts } from '@ortler/engine/graph-contract';
import { type GraphRecorder, tensorBytes } from '@ortler/onnx';
import type { DecoderConfig } from './hugging-face/decoder-config.ts';

/** Undefined without experts. */
export function findExpertFacts(
  config: DecoderConfig,
  graph: GraphRecorder,
  parameterCount: number,
): ExpertFacts | undefined {
  const { experts } = config;
  if (experts === undefined) return undefined;
  return {
    count: experts.count,
    chosen: experts.chosen,
    weightBytes: graph.weights
      .flatMap(({ tensors }) => tensors)
      .filter(({ name }) => name.startsWith(EXPERT_WEIGHTS))
      .reduce((sum, tensor) => sum + tensorBytes(tensor), 0),
    activeParameterCount: activeParameters(config, parameterCount),
  };
}

/** Parameters that a token is computed with. */
export function activeParameters(config: DecoderConfig, parameterCount: number): number {
  const { experts, hiddenSize, layers, isGated } = config;
  if (experts === undefined) return parameterCount;
  const { count, chosen, intermediateSize, bias, latentSize: width = hiddenSize } = experts;
  const inner = (isGated ? 2 : 1) * intermediateSize;
  const ofExpert = width * (inner + intermediateSize) + (bias ? inner + width : 0);
  const layerCount = layers.filter(({ hasExperts }) => hasExperts).length;
  return parameterCount - layerCount * (count - chosen) * ofExpert;
}
