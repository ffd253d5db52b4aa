// Architectures of GGUF files that are not built and are called otherwise than in config.json.
// Source: gguf-py, constants.py (MODEL_ARCH_NAMES)

/** The `model_type` of config.json, by `general.architecture`. */
export const OTHER_ARCHITECTURES: Readonly<Record<string, string>> = {
  bailingmoe: 'bailing_moe',
  bailingmoe2: 'bailing_moe',
  'command-r': 'cohere',
  dream: 'Dream',
  gptneox: 'gpt_neox',
  'jina-bert-v3': 'xlm-roberta',
  'kimi-linear': 'kimi_linear',
  'minimax-m2': 'minimax_m2',
  'modern-bert': 'modernbert',
  'nomic-bert': 'nomic_bert',
  phi2: 'phi',
  qwen2vl: 'qwen2_vl',
  qwen3vl: 'qwen3_vl',
  qwen3vlmoe: 'qwen3_vl_moe',
  starcoder: 'gpt_bigcode',
};
