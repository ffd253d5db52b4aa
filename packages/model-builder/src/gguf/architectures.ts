// The architectures of GGUF files that are built: what their metadata leave to the program that reads them, and what their tensors
// are called and hold.
// Source: llama.cpp, convert_hf_to_gguf.py and llama-model.cpp; gguf-py, constants.py

import type { ConfigFields } from './config-fields.ts';

export interface GgufArchitecture {
  /** Of config.json. */
  readonly modelType: string;
  /** Keys of config.json beside those that all architectures have. */
  readonly configKeys?: (facts: GgufFacts) => Readonly<Record<string, unknown>>;
  /** Some layers see a window of the last tokens only. */
  readonly hasWindows?: boolean;
  /** Key of config.json for the epsilon of norms that subtract the mean; others are RMS norms. */
  readonly layerNormKey?: string;
  /** Rows of queries and keys are in llama.cpp's order. */
  readonly permutesHeads?: boolean;
  /** `rope.dimension_count` may be less than the size of a head. */
  readonly rotatesPart?: boolean;
  /** Names in the file of modules of a layer, where they are not those of Llama. */
  readonly modules?: Readonly<Record<string, string>>;
}

/** What the keys of an architecture follow from. */
export interface GgufFacts {
  readonly fields: ConfigFields;
  readonly headSize: number;
  readonly hiddenSize: number;
  readonly headCount: number;
  /** Whether the file has the tensor. */
  has(name: string): boolean;
}

const RELU2 = { hidden_act: 'relu2' } as const;
const GELU = { hidden_act: 'gelu_pytorch_tanh', hidden_activation: 'gelu_pytorch_tanh' } as const;

/** Norms before and behind attention and MLP, of which Llama has the first and the third. */
const SANDWICH = {
  post_attention_layernorm: 'post_attention_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
} as const;

/** Norms behind attention and MLP only. */
const NORMS_BEHIND = {
  post_attention_layernorm: 'post_attention_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
} as const;

/** `layer_types` and `sliding_window` where the file has a window. */
function windows({ fields }: GgufFacts, architecture: string) {
  const window = fields.window(architecture);
  if (window === undefined) return undefined;
  const layerTypes = fields
    .flags(`${architecture}.attention.sliding_window_pattern`)
    ?.map(isSliding => (isSliding ? 'sliding_attention' : 'full_attention'));
  return { sliding_window: window, ...(layerTypes !== undefined && { layer_types: layerTypes }) };
}

/**
 * The largest models of Gemma 2 and 3 scale their scores by another number than the size of a head. The file does not say so; they
 * are known by their number of layers.
 */
function queryScalar({ fields, headSize, hiddenSize, headCount }: GgufFacts, name: string, largest: number) {
  const isLargest = fields.count(`${name}.block_count`) === largest;
  return { query_pre_attn_scalar: isLargest ? hiddenSize / headCount : headSize };
}

const gemma: GgufArchitecture = { modelType: 'gemma', configKeys: () => GELU };

const gemma2: GgufArchitecture = {
  modelType: 'gemma2',
  hasWindows: true,
  modules: SANDWICH,
  configKeys: facts => ({
    ...GELU,
    ...queryScalar(facts, 'gemma2', 46),
    sliding_window: facts.fields.window('gemma2') ?? 4096,
    attn_logit_softcapping: facts.fields.optionalNumber('gemma2.attn_logit_softcapping') ?? 50,
    final_logit_softcapping: facts.fields.optionalNumber('gemma2.final_logit_softcapping') ?? 30,
  }),
};

const gemma3: GgufArchitecture = {
  modelType: 'gemma3_text',
  hasWindows: true,
  modules: SANDWICH,
  configKeys: facts => ({
    ...GELU,
    ...queryScalar(facts, 'gemma3', 62),
    rope_theta: facts.fields.optionalNumber('gemma3.rope.freq_base') ?? 1_000_000,
    rope_local_base_freq: facts.fields.optionalNumber('gemma3.rope.freq_base_swa') ?? 10_000,
    sliding_window: facts.fields.count('gemma3.attention.sliding_window'),
    sliding_window_pattern: facts.fields.optionalCount('gemma3.attention.sliding_window_pattern') ?? 6,
    final_logit_softcapping: facts.fields.optionalNumber('gemma3.final_logit_softcapping') ?? null,
  }),
};

/** Files of OLMo 3 say `olmo2` too; they have windows. */
const olmo2: GgufArchitecture = {
  modelType: 'olmo2',
  hasWindows: true,
  modules: NORMS_BEHIND,
  configKeys: facts => {
    const found = windows(facts, 'olmo2');
    return found === undefined ? {} : { model_type: 'olmo3', ...found };
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
  configKeys: ({ fields }) => ({
    embedding_multiplier: fields.optionalNumber('granite.embedding_scale') ?? 1,
    attention_multiplier: fields.number('granite.attention.scale'),
    residual_multiplier: fields.optionalNumber('granite.residual_scale') ?? 1,
    logits_scaling: fields.number('granite.logit_scale'),
  }),
};

const exaone4: GgufArchitecture = {
  modelType: 'exaone4',
  hasWindows: true,
  modules: NORMS_BEHIND,
  configKeys: facts => windows(facts, 'exaone4') ?? { sliding_window: null },
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
  configKeys: () => RELU2,
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

/** Files have no window, all published models one of 4096 tokens. */
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

/** By `general.architecture`. Files of Mistral 7B to Small 3.0 say `llama`. */
export const GGUF_ARCHITECTURES: ReadonlyMap<string, GgufArchitecture> = new Map(
  Object.entries({
    llama: { modelType: 'llama', permutesHeads: true },
    qwen2: { modelType: 'qwen2' },
    qwen3: { modelType: 'qwen3' },
    gemma,
    gemma2,
    gemma3,
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
  } satisfies Readonly<Record<string, GgufArchitecture>>),
);
