// A tiny checkpoint for tests: a complete Hugging Face folder of a few hundred kilobytes with seeded random weights.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDecoderConfig } from '../architectures/read-decoder-config.ts';
import { SINGLE_WEIGHTS_FILE, WEIGHTS_INDEX_FILE } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { CheckpointType } from '../hugging-face/element-types.ts';
import { fillSeeded } from './seeded-weights.ts';
import { TINY_SPECIAL_IDS, tinyTokenizerFiles } from './tiny-tokenizer.ts';
import { type TensorToWrite, writeSafetensors } from './write-safetensors.ts';

export interface TinyCheckpointOptions {
  /** Default: `llama`. */
  readonly modelType?: 'llama' | 'qwen2' | 'qwen3';
  /** Default: 1. */
  readonly seed?: number;
  /** Default: F32. */
  readonly weightType?: CheckpointType;
  /** Weights files. Default: 1, without an index. */
  readonly shardCount?: number;
  /** Keys of `config.json` to set or replace. */
  readonly config?: Readonly<Record<string, unknown>>;
}

const BASE_CONFIG = {
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  vocab_size: 288,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-6,
  hidden_act: 'silu',
  rope_theta: 10_000,
  tie_word_embeddings: true,
  attention_bias: false,
  bos_token_id: null,
  eos_token_id: TINY_SPECIAL_IDS.messageEnd,
  torch_dtype: 'float32',
} as const;

/** Writes the folder, created if absent, and returns its configuration. The same options give the same bytes. */
export async function createTinyCheckpoint(
  folder: string,
  options: TinyCheckpointOptions = {},
): Promise<DecoderConfig> {
  const { modelType = 'llama', seed = 1, weightType = 'F32', shardCount = 1 } = options;
  const configJson = { model_type: modelType, ...BASE_CONFIG, ...options.config };
  const config = parseDecoderConfig(join(folder, 'config.json'), configJson);
  const { tokenizer, tokenizerConfig } = tinyTokenizerFiles();
  await mkdir(folder, { recursive: true });
  await writeJson(folder, 'config.json', configJson);
  await writeJson(folder, 'tokenizer.json', tokenizer);
  await writeJson(folder, 'tokenizer_config.json', tokenizerConfig);
  await writeJson(folder, 'generation_config.json', {
    eos_token_id: [TINY_SPECIAL_IDS.messageEnd, TINY_SPECIAL_IDS.endOfText],
    pad_token_id: TINY_SPECIAL_IDS.endOfText,
  });
  await writeWeights(folder, weightType, shardCount, seededTensors(config, seed));
  return config;
}

/** Every tensor of a checkpoint with this configuration, filled from the seed. */
export function seededTensors(config: DecoderConfig, seed: number): TensorToWrite[] {
  const { hiddenSize, intermediateSize, headSize, vocabSize } = config;
  const queries = config.headCount * headSize;
  const keys = config.kvHeadCount * headSize;
  const tensors: TensorToWrite[] = [];
  const add = (name: string, shape: readonly number[], scale: number, offset = 0) =>
    tensors.push({
      name,
      shape,
      fill: (target, start) => fillSeeded(target, { seed, name, start, scale, offset }),
    });
  // Uniform numbers in [-s, s] have the variance s * s / 3: this keeps the magnitude of activations from layer to layer.
  const matrix = (name: string, rows: number, columns: number, hasBias: boolean) => {
    add(`${name}.weight`, [rows, columns], Math.sqrt(3 / columns));
    if (hasBias) add(`${name}.bias`, [rows], 0.25);
  };
  const norm = (name: string, size: number) => add(`${name}.weight`, [size], 0.25, 1);

  add(
    'model.embed_tokens.weight',
    [vocabSize, hiddenSize],
    config.tiedEmbeddings ? Math.sqrt(3 / hiddenSize) : 1,
  );
  for (let layer = 0; layer < config.layerCount; layer++) {
    const path = `model.layers.${layer}`;
    norm(`${path}.input_layernorm`, hiddenSize);
    matrix(`${path}.self_attn.q_proj`, queries, hiddenSize, config.qkvBias);
    matrix(`${path}.self_attn.k_proj`, keys, hiddenSize, config.qkvBias);
    matrix(`${path}.self_attn.v_proj`, keys, hiddenSize, config.qkvBias);
    matrix(`${path}.self_attn.o_proj`, hiddenSize, queries, config.attentionOutputBias);
    if (config.queryKeyNorm === 'head') {
      norm(`${path}.self_attn.q_norm`, headSize);
      norm(`${path}.self_attn.k_norm`, headSize);
    }
    norm(`${path}.post_attention_layernorm`, hiddenSize);
    matrix(`${path}.mlp.gate_proj`, intermediateSize, hiddenSize, config.mlpBias);
    matrix(`${path}.mlp.up_proj`, intermediateSize, hiddenSize, config.mlpBias);
    matrix(`${path}.mlp.down_proj`, hiddenSize, intermediateSize, config.mlpBias);
  }
  norm('model.norm', hiddenSize);
  if (!config.tiedEmbeddings) matrix('lm_head', vocabSize, hiddenSize, false);
  return tensors;
}

async function writeWeights(
  folder: string,
  type: CheckpointType,
  shardCount: number,
  tensors: readonly TensorToWrite[],
): Promise<void> {
  if (shardCount === 1) {
    await writeSafetensors(join(folder, SINGLE_WEIGHTS_FILE), type, tensors);
    return;
  }
  const digits = (value: number) => String(value).padStart(5, '0');
  const weightMap: Record<string, string> = {};
  for (let shard = 0; shard < shardCount; shard++) {
    const name = `model-${digits(shard + 1)}-of-${digits(shardCount)}.safetensors`;
    const part = tensors.filter((_, i) => i % shardCount === shard);
    for (const tensor of part) weightMap[tensor.name] = name;
    await writeSafetensors(join(folder, name), type, part);
  }
  await writeJson(folder, WEIGHTS_INDEX_FILE, { metadata: {}, weight_map: weightMap });
}

async function writeJson(folder: string, name: string, value: unknown): Promise<void> {
  await writeFile(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}
