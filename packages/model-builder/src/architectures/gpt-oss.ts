// gpt-oss: experts with biases and a clamped gate, attention sinks, and a window in every second layer.
// Source: transformers, models/gpt_oss/modeling_gpt_oss.py and configuration_gpt_oss.py

import type { ExpertModules } from '../hugging-face/experts-config.ts';
import type { Architecture } from './architecture.ts';
import { slidingLayers, windowLength } from './layer-windows.ts';
import { readExperts } from './read-experts.ts';

const EXPERTS: ExpertModules = {
  router: 'mlp.router',
  selectionBias: undefined,
  matrices: { layout: 'columns', gateUp: 'mlp.experts.gate_up_proj', down: 'mlp.experts.down_proj' },
  shared: undefined,
};

/** The operator's factor of the gate; see `clamped_gate` in `packages/kernels/c/finish-rows.h`. */
const GATE_FACTOR = 1.702;

/** The rotation of a config.json that has none. Source: transformers, configuration_gpt_oss.py */
const DEFAULT_ROTATION = {
  rope_type: 'yarn',
  factor: 32,
  beta_fast: 32,
  beta_slow: 1,
  truncate: false,
  original_max_position_embeddings: 4096,
} as const;

export const gptOss: Architecture = {
  modelType: 'gpt_oss',
  names: 'gpt-oss 20B and 120B',
  defaults: {
    head_dim: 64,
    num_key_value_heads: 8,
    num_local_experts: 128,
    num_experts_per_tok: 4,
    sliding_window: 128,
    rms_norm_eps: 1e-5,
    attention_bias: true,
  },
  defaultsFrom: ({ rope_scaling: scaling }) =>
    Object.keys(scaling ?? {}).length === 0 ? { rope_parameters: DEFAULT_ROTATION } : {},
  readsLayerTypes: true,
  read(keys, reader) {
    const factor = keys.swiglu_alpha ?? GATE_FACTOR;
    if (factor !== GATE_FACTOR) reader.refuse('swiglu_alpha', `is ${factor}; allowed: ${GATE_FACTOR}`);
    const isSliding = slidingLayers(keys, reader, layer => layer % 2 === 0);
    const window = windowLength(keys, reader);
    return {
      qkvBias: keys.attention_bias ?? true,
      attentionOutputBias: keys.attention_bias ?? true,
      hasSinks: true,
      experts: readExperts(keys, reader, {
        countKey: 'num_local_experts',
        routerBias: true,
        bias: true,
        gateLimit: keys.swiglu_limit ?? 7,
        modules: EXPERTS,
      }),
      ropes: [reader.rope({ defaultTheta: 150_000 })],
      layer: index => ({ rope: 0, window: isSliding(index) ? window : undefined }),
    };
  },
};
