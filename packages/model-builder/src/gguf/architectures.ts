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
  /** Names in the file of modules of a layer, where they are not those of Llama. */
  readonly modules?: Readonly<Record<string, string>>;
}

/** What the keys of an architecture follow from. */
export interface GgufFacts {
  readonly fields: ConfigFields;
  readonly headSize: number;
  readonly hiddenSize: number;
  readonly headCount: number;
}

const GELU = { hidden_act: 'gelu_pytorch_tanh', hidden_activation: 'gelu_pytorch_tanh' } as const;

/** Norms before and behind attention and MLP, of which Llama has the first and the third. */
const SANDWICH = {
  post_attention_layernorm: 'post_attention_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
} as const;

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
    sliding_window: facts.fields.optionalCount('gemma2.attention.sliding_window') ?? 4096,
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

/** Norms behind attention and MLP only. Files of OLMo 3 say `olmo2` too; they have windows. */
const olmo2: GgufArchitecture = {
  modelType: 'olmo2',
  hasWindows: true,
  modules: {
    post_attention_layernorm: 'post_attention_norm',
    post_feedforward_layernorm: 'post_ffw_norm',
  },
  configKeys: ({ fields }) => {
    const window = fields.optionalCount('olmo2.attention.sliding_window');
    if (window === undefined) return {};
    const layerTypes = fields
      .flags('olmo2.attention.sliding_window_pattern')
      ?.map(isSliding => (isSliding ? 'sliding_attention' : 'full_attention'));
    return {
      model_type: 'olmo3',
      sliding_window: window,
      ...(layerTypes !== undefined && { layer_types: layerTypes }),
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

/** By `general.architecture`. Mistral's files say `llama`. */
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
  } satisfies Readonly<Record<string, GgufArchitecture>>),
);
