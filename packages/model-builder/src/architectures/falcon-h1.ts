// Falcon-H1: attention and Mamba-2 side by side in each layer, and a factor for nearly every matrix. The factors are multiplied into
// weights; those of the convolution's inputs into its weights.
// Source: transformers, models/falcon_h1/modeling_falcon_h1.py and configuration_falcon_h1.py

import type { Architecture, ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { mambaModules, readMamba } from './read-mamba.ts';

export const falconH1: Architecture = {
  modelType: 'falcon_h1',
  names: 'Falcon-H1',
  defaults: {
    rms_norm_eps: 1e-5,
    max_position_embeddings: 8192,
    mamba_d_ssm: 1024,
    mamba_n_heads: 128,
    mamba_n_groups: 1,
    mamba_d_state: 256,
    mamba_d_conv: 4,
    mamba_expand: 2,
    mamba_conv_bias: true,
    mamba_proj_bias: false,
    mamba_norm_before_gate: true,
    mamba_rms_norm: false,
  },
  read(keys, reader) {
    refuseBiases(keys, reader);
    const width = keys.mamba_d_ssm ?? keys.mamba_expand! * keys.hidden_size;
    const norm = keys.mamba_rms_norm!
      ? { isFirst: keys.mamba_norm_before_gate!, groupCount: keys.mamba_n_groups! }
      : undefined;
    const recurrent = readMamba(keys, reader, { width, norm });
    const [ofGate, ofDown] = factorList('mlp_multipliers', keys.mlp_multipliers, 2, reader) as [
      number,
      number,
    ];
    const ofRecurrent = factorList('ssm_multipliers', keys.ssm_multipliers, 5, reader);
    const [z, x, b, c, dt] = ofRecurrent.map(factor => factor * (keys.ssm_in_multiplier ?? 1)) as [
      ...[number, number, number, number, number],
    ];
    const before = keys.attention_in_multiplier ?? 1;
    return {
      embeddingScale: keys.embedding_multiplier ?? 1,
      logitScale: keys.lm_head_multiplier ?? 1,
      matrixScales: {
        query: before,
        key: before * (keys.key_multiplier ?? 1),
        value: before,
        attentionOutput: keys.attention_out_multiplier ?? 1,
        gate: ofGate,
        down: ofDown,
        recurrentGate: z,
        recurrentDecay: dt,
        recurrentOutput: keys.ssm_out_multiplier ?? 1,
      },
      ropes: [reader.rope()],
      layer: () => ({
        rope: 0,
        window: undefined,
        recurrent: { ...recurrent, inputScales: { values: x, keys: b, queries: c } },
        hasAttention: true,
      }),
      modules: {
        beforeMlp: 'pre_ff_layernorm',
        gate: 'feed_forward.gate_proj',
        up: 'feed_forward.up_proj',
        down: 'feed_forward.down_proj',
        finalNorm: 'final_layernorm',
        recurrent: mambaModules('mamba'),
      },
    };
  },
};

const BIASES = ['attention_bias', 'mlp_bias', 'projectors_bias', 'mamba_proj_bias'] as const;

/** Factors of inputs do not apply to biases. No published model has them. */
function refuseBiases(keys: ConfigKeys, reader: ConfigReader): void {
  for (const key of BIASES) if (keys[key]) reader.refuse(key, 'must be absent or false');
}

function factorList(
  key: string,
  list: readonly number[] | null | undefined,
  count: number,
  reader: ConfigReader,
): readonly number[] {
  if (list === null || list === undefined) return Array.from({ length: count }, () => 1);
  if (list.length !== count) reader.invalid(key, `has ${list.length} entries; it must have ${count}`);
  return list;
}
