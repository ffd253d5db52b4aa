// The architectures of GGUF files that are built. What the files leave to the program that reads them is that of llama.cpp.
// Source: llama.cpp, convert_hf_to_gguf.py and llama-model.cpp; gguf-py, constants.py

import {
  ernieMoe,
  glm4Moe,
  gptOss,
  graniteMoe,
  hunyuanMoe,
  olmoe,
  qwen2Moe,
  qwen3Moe,
} from './expert-architectures.ts';
import { expertKeys } from './expert-keys.ts';
import { gemma, gemma2, gemma3, gemma4 } from './gemma-architectures.ts';
import { type GgufArchitecture, windowKeys } from './gguf-architecture.ts';
import { graniteKeys } from './granite-keys.ts';
import { deepseek2 } from './latent-architectures.ts';
import { falconH1, graniteHybrid, nemotronH, nemotronHMoe } from './mamba-architectures.ts';
import { lfm2, lfm2Moe, qwen3Next, qwen35, qwen35Moe } from './recurrent-architectures.ts';

const RELU2 = { hidden_act: 'relu2' } as const;

/** Norms after attention and MLP only. */
const NORMS_AFTER = {
  post_attention_layernorm: 'post_attention_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
} as const;

/** Files of OLMo 3 say `olmo2` too; they have windows. */
const olmo2: GgufArchitecture = {
  modelType: 'olmo2',
  hasWindows: true,
  hasLocalBase: true,
  modules: NORMS_AFTER,
  configKeys: facts => {
    const found = windowKeys(facts, 'olmo2');
    if (found === undefined) return {};
    const { fields } = facts;
    const localBase = fields.optionalNumber('olmo2.rope.freq_base_swa');
    if (localBase === undefined) return { model_type: 'olmo3', ...found };
    const scaling = fields.ropeScaling('olmo2') ?? { rope_type: 'default' };
    return {
      model_type: 'olmo3',
      ...found,
      rope_theta: null,
      rope_scaling: null,
      rope_parameters: {
        full_attention: { ...scaling, rope_theta: fields.number('olmo2.rope.freq_base') },
        sliding_attention: { rope_type: 'default', rope_theta: localBase },
      },
    };
  },
};

const cohere2: GgufArchitecture = {
  modelType: 'cohere2',
  hasWindows: true,
  layerNormKey: 'layer_norm_eps',
  configKeys: ({ fields }) => ({
    logit_scale: fields.number('cohere2.logit_scale'),
    sliding_window: fields.count('cohere2.attention.sliding_window'),
  }),
};

const granite: GgufArchitecture = {
  modelType: 'granite',
  permutesHeads: true,
  configKeys: facts => graniteKeys(facts, 'granite'),
};

const exaone4: GgufArchitecture = {
  modelType: 'exaone4',
  hasWindows: true,
  modules: NORMS_AFTER,
  configKeys: facts => windowKeys(facts, 'exaone4') ?? { sliding_window: null },
};

/** The base of the rotation is stretched in the file. */
const hunyuanDense: GgufArchitecture = {
  modelType: 'hunyuan_v1_dense',
  modules: { 'self_attn.query_layernorm': 'attn_q_norm', 'self_attn.key_layernorm': 'attn_k_norm' },
};

const glm4: GgufArchitecture = {
  modelType: 'glm4',
  rotatesPart: true,
  modules: {
    post_self_attn_layernorm: 'post_attention_norm',
    post_mlp_layernorm: 'post_ffw_norm',
  },
};

const seedOss: GgufArchitecture = {
  modelType: 'seed_oss',
  modules: { post_attention_layernorm: 'post_attention_norm' },
  configKeys: ({ has }) => ({ attention_out_bias: has('blk.0.attn_output.bias') }),
};

const nemotron: GgufArchitecture = {
  modelType: 'nemotron',
  rotatesPart: true,
  layerNormKey: 'norm_eps',
  configKeys({ fields, headSize, hiddenSize, headCount }) {
    if (headSize !== hiddenSize / headCount) {
      const message = `is ${headSize}; it must be ${hiddenSize / headCount}, because converters write a wrong rope.dimension_count for other heads`;
      fields.refuse('nemotron.attention.key_length', message);
    }
    return RELU2;
  },
};

const phi3: GgufArchitecture = {
  modelType: 'phi3',
  hasWindows: true,
  rotatesPart: true,
  configKeys: ({ fields }) => ({
    original_max_position_embeddings: fields.optionalCount('phi3.rope.scaling.original_context_length'),
    sliding_window: fields.window('phi3') ?? null,
  }),
};

/**
 * All published models have a window of 4096 tokens, as transformers computes them. Converters do not write it and llama.cpp reads none, so
 * there each token attends to the whole context. Source: llama.cpp, conversion/starcoder.py and src/models/starcoder2.cpp
 */
const starcoder2: GgufArchitecture = {
  modelType: 'starcoder2',
  layerNormKey: 'norm_epsilon',
  modules: { 'mlp.c_fc': 'ffn_up', 'mlp.c_proj': 'ffn_down' },
  configKeys: ({ has }) => ({
    hidden_act: 'gelu_pytorch_tanh',
    use_bias: has('blk.0.attn_q.bias'),
    sliding_window: 4096,
  }),
};

/** Mistral Small 3.1 and 3.2, and Ministral 3, whose queries grow with their position. */
const mistral3: GgufArchitecture = {
  modelType: 'mistral',
  permutesHeads: true,
  configKeys({ fields }) {
    const growth = fields.optionalNumber('mistral3.attention.temperature_scale');
    const scaling = fields.ropeScaling('mistral3');
    if (growth === undefined) return { sliding_window: null };
    return {
      model_type: 'ministral3',
      sliding_window: null,
      rope_scaling: { ...(scaling ?? { rope_type: 'default' }), llama_4_scaling_beta: growth },
    };
  },
};

/** Files of Mixtral say `llama` too. */
const llama: GgufArchitecture = {
  modelType: 'llama',
  permutesHeads: true,
  hasExperts: true,
  configKeys: facts => {
    if (facts.fields.wholeNumber('llama.expert_count') === 0) return {};
    return { model_type: 'mixtral', sliding_window: null, ...expertKeys(facts, 'llama') };
  },
};

/** By `general.architecture`. Files of Mistral 7B to Small 3.0 say `llama`. */
export const GGUF_ARCHITECTURES: ReadonlyMap<string, GgufArchitecture> = new Map(
  Object.entries({
    llama,
    qwen2: { modelType: 'qwen2' },
    qwen3: { modelType: 'qwen3' },
    gemma,
    gemma2,
    gemma3,
    gemma4,
    olmo2,
    cohere2,
    phi3,
    granite,
    smollm3: { modelType: 'smollm3', permutesHeads: true },
    exaone4,
    ernie4_5: {
      modelType: 'ernie4_5',
      configKeys: ({ has }) => ({ use_bias: has('blk.0.attn_q.bias') }),
    },
    'hunyuan-dense': hunyuanDense,
    glm4,
    seed_oss: seedOss,
    arcee: { modelType: 'arcee', permutesHeads: true, configKeys: () => RELU2 },
    nemotron,
    starcoder2,
    mistral3,
    'gpt-oss': gptOss,
    lfm2,
    lfm2moe: lfm2Moe,
    qwen35,
    qwen35moe: qwen35Moe,
    qwen3next: qwen3Next,
    olmoe,
    qwen2moe: qwen2Moe,
    qwen3moe: qwen3Moe,
    granitemoe: graniteMoe,
    glm4moe: glm4Moe,
    granitehybrid: graniteHybrid,
    'falcon-h1': falconH1,
    nemotron_h: nemotronH,
    nemotron_h_moe: nemotronHMoe,
    'ernie4_5-moe': ernieMoe,
    'hunyuan-moe': hunyuanMoe,
    deepseek2,
  } satisfies Readonly<Record<string, GgufArchitecture>>),
);
