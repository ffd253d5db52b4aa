// What the attention operators of a graph variant cannot compute of a model.

import type { GraphVariant } from '@ortler/engine/graph-contract';
import { VARIANTS } from '../blocks/variant.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';

/** The reason, with the key in config.json that it follows from. */
export interface VariantFault {
  readonly key: string;
  readonly message: string;
}

/** Undefined where the variant can compute the model. */
export function variantFault(variant: GraphVariant, config: DecoderConfig): VariantFault | undefined {
  if (variant === 'kernels') return undefined;
  const fault = kernelsOnlyFault(config);
  if (fault !== undefined) return fault;
  const headSize = Math.max(...config.layers.map(layer => layer.headSize));
  const { largestHeadSize } = VARIANTS[variant];
  if (headSize > largestHeadSize) {
    const message = `heads have ${headSize} elements, and at most ${largestHeadSize} are fast and right`;
    return { key: 'head_dim', message };
  }
  if (variant === 'slots') return undefined;
  return variant === 'paged' ? pagedFault(config) : deviceSlotsFault(config);
}

/** What only the CPU kernels compute. */
function kernelsOnlyFault({ experts, layers, gatesAttention }: DecoderConfig): VariantFault | undefined {
  if (experts !== undefined)
    return { key: 'model_type', message: 'only the CPU kernels compute mixtures of experts' };
  const layer = layers.findIndex(({ memory }) => memory !== undefined);
  if (layer >= 0)
    return {
      key: 'layer_types',
      message: `layer ${layer} has a memory (${layers[layer]!.memory!.kind}), which only the CPU kernels compute`,
    };
  if (!gatesAttention) return undefined;
  return { key: 'model_type', message: 'attention has gates, which only the CPU kernels compute' };
}

function deviceSlotsFault({ attentionSoftcap }: DecoderConfig): VariantFault | undefined {
  if (attentionSoftcap === undefined) return undefined;
  const message = 'GroupQueryAttention of ONNX Runtime 1.30 ignores soft caps of attention scores on WebGPU';
  return { key: 'attn_logit_softcapping', message };
}

function pagedFault(config: DecoderConfig): VariantFault | undefined {
  if (config.attentionSoftcap !== undefined)
    return {
      key: 'attn_logit_softcapping',
      message: 'PagedAttention on WebGPU has no soft cap of attention scores',
    };
  if (config.queryScale !== undefined)
    return {
      key: 'rope_parameters.llama_4_scaling_beta',
      message: 'queries grow with their position, which a graph of packed sequences does not know',
    };
  if (config.queryKeyNorm === 'rotated-head')
    return {
      key: 'model_type',
      message: 'queries and keys have norms behind the rotation, which PagedAttention computes itself',
    };
  const other = config.layers.find(
    ({ headSize, kvHeadCount, kvSource }) =>
      headSize !== config.headSize || kvHeadCount !== config.kvHeadCount || kvSource !== undefined,
  );
  if (other !== undefined)
    return { key: 'global_head_dim', message: 'layers have keys and values of different sizes' };
  const windowed = config.layers.findIndex(
    ({ window = config.contextLength }) => window < config.contextLength,
  );
  if (windowed < 0) return undefined;
  return {
    key: 'sliding_window',
    message: `layer ${windowed} has a window, which PagedAttention of ONNX Runtime 1.30 ignores on WebGPU`,
  };
}
