// A tiny model as a GGUF file of seeded blocks, and the same values as a Hugging Face folder in float32.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dequantise, type GgufType } from '@ortler/gguf';
import { encodeGguf, type FieldToWrite, seededBlocks } from '@ortler/gguf/testing';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { createTinyCheckpoint, seededTensors, type TinyCheckpointOptions } from './tiny-model.ts';
import { tinyTokenizerFiles } from './tiny-tokenizer.ts';
import { writeSafetensors } from './write-safetensors.ts';

export interface TinyGgufOptions extends Pick<TinyCheckpointOptions, 'modelType' | 'config' | 'seed'> {
  /** Type of a matrix, by its name in the checkpoint; vectors are in float32. */
  readonly typeOf: (name: string) => GgufType;
  /** Metadata to set or replace. */
  readonly metadata?: Readonly<Record<string, FieldToWrite>>;
  /** Tensors beside those of the model. */
  readonly extraTensors?: Parameters<typeof encodeGguf>[0]['tensors'];
  /** Files to write. Default: 1. */
  readonly shardCount?: number;
}

export interface TinyGguf {
  /** The first one. */
  readonly file: string;
  /** The Hugging Face folder. */
  readonly source: string;
  readonly config: DecoderConfig;
  /** Values of the matrices by their names in the checkpoint, in its order of rows. */
  readonly matrices: ReadonlyMap<string, Float32Array>;
}

/** Writes both into `folder`, as `model.gguf` and `source`. The same options give the same bytes. */
export async function createTinyGguf(folder: string, options: TinyGgufOptions): Promise<TinyGguf> {
  const { typeOf, seed = 1, shardCount = 1, extraTensors = [] } = options;
  const source = join(folder, 'source');
  const config = await createTinyCheckpoint(source, options);
  const matrices = new Map<string, Float32Array>();
  const tensors = seededTensors(config, seed).map(({ name, shape, fill }, i) => {
    const count = shape.reduce((product, size) => product * size, 1);
    const values = new Float32Array(count);
    let bytes: Uint8Array;
    const type = shape.length === 1 ? 'F32' : typeOf(name);
    if (shape.length === 1) {
      fill(values, 0);
      bytes = new Uint8Array(values.buffer);
    } else {
      bytes = seededBlocks(type, count, Math.sqrt(3 / shape[1]!), 100 * seed + i);
      dequantise(type, bytes, values);
      matrices.set(name, values);
    }
    return { name, shape, type, bytes, values };
  });
  await writeSafetensors(
    join(source, 'model.safetensors'),
    'F32',
    tensors.map(({ name, shape, values }) => ({
      name,
      shape,
      fill: (target, start) => target.set(values.subarray(start, start + target.length)),
    })),
  );
  const written = tensors.map(({ name, shape, type, bytes }) => ({
    name: ggufName(name),
    type,
    dimensions: shape.toReversed(),
    bytes: isPermuted(config, name) ? permuted(bytes, shape[0]!, config.headSize) : bytes,
  }));
  const all = [...written, ...extraTensors];
  const metadata = { ...modelFields(config), ...tokenizerFields(config.vocabSize), ...options.metadata };
  const digits = (value: number) => String(value).padStart(5, '0');
  const files = Array.from({ length: shardCount }, (_, i) =>
    join(folder, shardCount === 1 ? 'model.gguf' : `model-${digits(i + 1)}-of-${digits(shardCount)}.gguf`),
  );
  for (const [i, file] of files.entries()) {
    const split = {
      'split.no': { uint16: i },
      'split.count': { uint16: shardCount },
      'split.tensors.count': { int32: all.length },
    };
    const bytes = encodeGguf({
      metadata: { ...(i === 0 ? metadata : {}), ...(shardCount === 1 ? {} : split) },
      tensors: all.filter((_, index) => index % shardCount === i),
    });
    await writeFile(file, bytes);
  }
  return { file: files[0]!, source, config, matrices };
}

function modelFields(config: DecoderConfig): Record<string, FieldToWrite> {
  const { modelType: type, ropes } = config;
  return {
    'general.architecture': type,
    [`${type}.block_count`]: { uint32: config.layerCount },
    [`${type}.context_length`]: { uint32: config.contextLength },
    [`${type}.embedding_length`]: { uint32: config.hiddenSize },
    [`${type}.feed_forward_length`]: { uint32: config.intermediateSize },
    [`${type}.attention.head_count`]: { uint32: config.headCount },
    [`${type}.attention.head_count_kv`]: { uint32: config.kvHeadCount },
    [`${type}.attention.key_length`]: { uint32: config.headSize },
    [`${type}.attention.value_length`]: { uint32: config.headSize },
    [`${type}.attention.layer_norm_rms_epsilon`]: { float32: config.norm.epsilon },
    [`${type}.rope.freq_base`]: { float32: ropes[0]!.theta },
  };
}

const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;
const UNUSED_TOKEN = 5;

interface TinyTokenizer {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (readonly string[])[];
  };
}

function tokenizerFields(vocabSize: number): Record<string, FieldToWrite> {
  const { tokenizer, tokenizerConfig } = tinyTokenizerFiles() as {
    readonly tokenizer: TinyTokenizer;
    readonly tokenizerConfig: { readonly chat_template: string };
  };
  const tokens = Array.from({ length: vocabSize }, (_, id) => `<unused${id}>`);
  const types = tokens.map(() => UNUSED_TOKEN);
  const put = (id: number, token: string, type: number) => {
    tokens[id] = token;
    types[id] = type;
  };
  for (const [token, id] of Object.entries(tokenizer.model.vocab)) put(id, token, NORMAL_TOKEN);
  for (const { id, content } of tokenizer.added_tokens) put(id, content, CONTROL_TOKEN);
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': { int32s: types },
    'tokenizer.ggml.merges': tokenizer.model.merges.map(pair => pair.join(' ')),
    'tokenizer.ggml.eos_token_id': { uint32: tokens.indexOf('<|im_end|>') },
    'tokenizer.chat_template': tokenizerConfig.chat_template,
  };
}

const PARTS: readonly (readonly [from: string, to: string])[] = [
  ['model.layers.', 'blk.'],
  ['self_attn.q_norm', 'attn_q_norm'],
  ['self_attn.k_norm', 'attn_k_norm'],
  ['self_attn.q_proj', 'attn_q'],
  ['self_attn.k_proj', 'attn_k'],
  ['self_attn.v_proj', 'attn_v'],
  ['self_attn.o_proj', 'attn_output'],
  ['input_layernorm', 'attn_norm'],
  ['post_attention_layernorm', 'ffn_norm'],
  ['mlp.gate_proj', 'ffn_gate'],
  ['mlp.up_proj', 'ffn_up'],
  ['mlp.down_proj', 'ffn_down'],
  ['model.embed_tokens', 'token_embd'],
  ['model.norm', 'output_norm'],
  ['lm_head', 'output'],
];

function ggufName(name: string): string {
  return PARTS.reduce((text, [from, to]) => text.replace(from, to), name);
}

function isPermuted({ modelType }: DecoderConfig, name: string): boolean {
  return modelType === 'llama' && /\.[qk]_proj\./.test(name);
}

/** llama.cpp has the two halves of a head in turns: rows `0, half, 1, half + 1, ...`. */
function permuted(bytes: Uint8Array, rowCount: number, headSize: number): Uint8Array {
  const rowBytes = bytes.length / rowCount;
  const moved = new Uint8Array(bytes.length);
  for (let row = 0; row < rowCount; row++) {
    const inside = row % headSize;
    const from = row - inside + (inside % 2) * (headSize / 2) + (inside >> 1);
    moved.set(bytes.subarray(from * rowBytes, (from + 1) * rowBytes), row * rowBytes);
  }
  return moved;
}
