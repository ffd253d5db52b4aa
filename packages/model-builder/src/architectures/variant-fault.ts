// What the attention operators of a graph variant cannot compute of a model, and keep of it in an int8 cache.

import type { GraphVariant, KvType } from '@ortler/engine/graph-contract';
import { VARIANTS } from '../blocks/variant.ts';
import { type DecoderConfig, hasMlp, type LayerConfig } from '../hugging-face/decoder-config.ts';

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

/** Elements of a word, which the int8 cache of WebGPU's provider packs. */
const INT8_WORD = 4;

/**
 * Why a model that the variant can compute has no cache of this type there, which is one of the variant's. An int8 cache needs the
 * provider's flash attention, which ONNX Runtime 1.30 does not take for layers with a window.
 */
export function cacheFault(
  variant: GraphVariant,
  kvType: KvType,
  { layers }: Pick<DecoderConfig, 'layers'>,
): VariantFault | undefined {
  if (variant !== 'device-slots' || kvType !== 'int8') return undefined;
  const windowed = layers.findIndex(({ window }) => window !== undefined);
  if (windowed >= 0) {
    const message = `layer ${windowed} has a window, for which GroupQueryAttention of ONNX Runtime 1.30 has no int8 cache on WebGPU`;
    return { key: 'sliding_window', message };
  }
  const odd = layers.find(({ headSize }) => headSize % INT8_WORD !== 0);
  if (odd === undefined) return undefined;
  const message = `heads have ${odd.headSize} elements, and an int8 cache on WebGPU needs a multiple of ${INT8_WORD}`;
  return { key: 'head_dim', message };
}

/** What only the CPU kernels compute. */
function kernelsOnlyFault({
  experts,
  latent,
  layers,
  gatesAttention,
}: DecoderConfig): VariantFault | undefined {
  if (experts !== undefined)
    return { key: 'model_type', message: 'only the CPU kernels compute mixtures of experts' };
  if (latent !== undefined)
    return { key: 'kv_lora_rank', message: 'only the CPU kernels compute multi-head latent attention' };
  for (const [index, layer] of layers.entries()) {
    const found = unlikeTransformer(layer);
    if (found === undefined) continue;
    return {
      key: 'layer_types',
      message: `layer ${index} has ${found}, which only the CPU kernels compute`,
    };
  }
  if (!gatesAttention) return undefined;
  return { key: 'model_type', message: 'attention has gates, which only the CPU kernels compute' };
}

/** What sets a layer apart from one of attention and an MLP. */
function unlikeTransformer(layer: LayerConfig): string | undefined {
  if (layer.recurrent !== undefined) return `a recurrent state (${layer.recurrent.kind})`;
  if (!layer.hasAttention) return 'no attention';
  return hasMlp(layer) ? undefined : 'no MLP';
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
      message: 'queries and keys have norms after the rotation, which PagedAttention computes itself',
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
