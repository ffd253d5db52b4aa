// Granite 3 and 4: Llama with factors for the embedding, the scores, what attention and MLP add, and the logits; dense, or with
// experts. Granite 4 H has Mamba-2 in most layers, most often no positions, and an MLP that all tokens share beside its experts.
// Source: transformers, models/granite/modeling_granite.py, models/granitemoe/modeling_granitemoe.py and
// models/granitemoehybrid/modeling_granitemoehybrid.py

import type { ExpertModules } from '../hugging-face/experts-config.ts';
import type { Architecture, DecoderFeatures } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { attentionLayers } from './layer-kinds.ts';
import { readExperts } from './read-experts.ts';
import { mambaModules, readMamba } from './read-mamba.ts';

export const granite: Architecture = {
  modelType: 'granite',
  names: 'Granite 3',
  defaults: { rms_norm_eps: 1e-6 },
  read: keys => ({ mlpBias: keys.mlp_bias ?? false, ...factors(keys) }),
};

const EXPERTS: ExpertModules = {
  router: 'block_sparse_moe.router.layer',
  selectionBias: undefined,
  matrices: {
    layout: 'rows',
    gateUp: 'block_sparse_moe.input_linear.weight',
    down: 'block_sparse_moe.output_linear.weight',
  },
  shared: undefined,
};

const SHARED = {
  gate: '',
  up: '',
  gateUp: 'shared_mlp.input_linear',
  down: 'shared_mlp.output_linear',
  weight: undefined,
} as const;

export const graniteMoe: Architecture = {
  modelType: 'granitemoe',
  names: 'Granite 3 MoE (1B-A400M, 3B-A800M)',
  defaults: { rms_norm_eps: 1e-6, num_local_experts: 8, num_experts_per_tok: 2 },
  read: (keys, reader) => ({
    experts: readExperts(keys, reader, { countKey: 'num_local_experts', modules: EXPERTS }),
    ...factors(keys),
  }),
};

export const graniteMoeShared: Architecture = {
  modelType: 'granitemoeshared',
  names: 'Granite 3 MoE with an expert that all tokens share (7B-A1B)',
  defaults: graniteMoe.defaults!,
  read(keys, reader) {
    const sharedSize = keys.shared_intermediate_size ?? 0;
    const modules = sharedSize === 0 ? EXPERTS : { ...EXPERTS, shared: SHARED };
    return {
      experts: readExperts(keys, reader, { countKey: 'num_local_experts', modules }),
      ropes: [reader.rope()],
      layer: () => ({ rope: 0, window: undefined, intermediateSize: sharedSize }),
      ...factors(keys),
    };
  },
};

export const graniteHybrid: Architecture = {
  modelType: 'granitemoehybrid',
  names: 'Granite 4 H, Granite 4 (350M to Small)',
  defaults: {
    rms_norm_eps: 1e-6,
    num_local_experts: 8,
    num_experts_per_tok: 2,
    shared_intermediate_size: 1024,
    mamba_n_heads: 128,
    mamba_n_groups: 1,
    mamba_d_state: 256,
    mamba_d_conv: 4,
    mamba_expand: 2,
    mamba_conv_bias: true,
    mamba_proj_bias: false,
  },
  readsLayerTypes: true,
  read(keys, reader) {
    const isAttention = attentionLayers(keys, reader, { other: 'linear_attention', pattern: () => false });
    const width = keys.mamba_expand! * keys.hidden_size;
    const groupCount = keys.mamba_n_groups!;
    const recurrent = () => readMamba(keys, reader, { width, norm: { isFirst: false, groupCount } });
    const isRotated = keys.position_embedding_type === 'rope';
    const hasExperts = keys.num_local_experts! > 0;
    const shared = { ...EXPERTS, shared: SHARED };
    return {
      ...(hasExperts
        ? { experts: readExperts(keys, reader, { countKey: 'num_local_experts', modules: shared }) }
        : {}),
      ...factors(keys),
      ropes: isRotated ? [reader.rope()] : [],
      layer: index => ({
        window: undefined,
        intermediateSize: keys.shared_intermediate_size!,
        ...(isAttention(index)
          ? { rope: isRotated ? 0 : undefined }
          : { rope: undefined, recurrent: recurrent() }),
      }),
      modules: {
        gateUp: SHARED.gateUp,
        down: SHARED.down,
        recurrent: mambaModules('mamba'),
      },
    };
  },
};

function factors(keys: ConfigKeys): DecoderFeatures {
  return {
    qkvBias: keys.attention_bias ?? false,
    attentionOutputBias: keys.attention_bias ?? false,
    embeddingScale: keys.embedding_multiplier ?? 1,
    // Transformers divides nothing by the head size where the key is absent.
    attentionScale: keys.attention_multiplier ?? 1,
    residualScale: keys.residual_multiplier ?? 1,
    logitScale: 1 / (keys.logits_scaling ?? 1),
  };
}
