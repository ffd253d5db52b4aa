// A Hugging Face checkpoint as a GGUF file, the format of llama.cpp, so that it computes the very same model.
// Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3.

import { type FileHandle, open } from 'node:fs/promises';
import { Checkpoint, type CheckpointTensor, readDecoderConfig } from '@ortler/model-builder/testing';
import { GgufHeader } from './gguf-header.ts';
import { type GgufType, ggufTypes } from './gguf-types.ts';

/** `f32` keeps every value; `q4_0` is 4 bits in blocks of 32, with the table in 8 bits (`q8_0`) as our own q4. */
export type GgufPrecision = 'f32' | 'q4_0';

const ALIGNMENT_BYTES = 32;

interface GgufTensor {
  readonly name: string;
  readonly type: GgufType;
  /** Shape: `[rows, columns]`, or `[size]`. */
  readonly source: CheckpointTensor;
  /** Heads whose rows change places, for architectures that rotate neighbouring pairs. */
  readonly rotatedHeads: number | null;
}

/** Writes `path` from the folder `sourceDir`. Only `llama` and `qwen2` without rope scaling. */
export async function writeGguf(sourceDir: string, path: string, precision: GgufPrecision): Promise<void> {
  const config = await readDecoderConfig(sourceDir);
  if (config.modelType !== 'llama' && config.modelType !== 'qwen2')
    throw new Error(`No GGUF layout is known here for ${config.modelType}.`);
  const checkpoint = await Checkpoint.open(sourceDir);
  const file = await open(path, 'w');
  try {
    const { hiddenSize, headSize, headCount, kvHeadCount, intermediateSize, vocabSize } = config;
    const matrixType = precision === 'f32' ? 'f32' : 'q4_0';
    const tableType = precision === 'f32' ? 'f32' : 'q8_0';
    const tensors: GgufTensor[] = [];
    const add = (name: string, type: GgufType, from: string, shape: readonly number[], heads?: number) =>
      tensors.push({
        name,
        type,
        source: checkpoint.tensor(from, shape),
        rotatedHeads: config.modelType === 'llama' ? (heads ?? null) : null,
      });
    add('token_embd.weight', tableType, 'model.embed_tokens.weight', [vocabSize, hiddenSize]);
    add('output_norm.weight', 'f32', 'model.norm.weight', [hiddenSize]);
    if (!config.tiedEmbeddings) add('output.weight', tableType, 'lm_head.weight', [vocabSize, hiddenSize]);
    for (let layer = 0; layer < config.layerCount; layer++) {
      const to = `blk.${layer}`;
      const from = `model.layers.${layer}`;
      const project = (name: string, part: string, rows: number, columns: number, heads?: number) => {
        add(`${to}.${name}.weight`, matrixType, `${from}.${part}.weight`, [rows, columns], heads);
        const hasBias = part.startsWith('self_attn') && part !== 'self_attn.o_proj' && config.qkvBias;
        if (hasBias) add(`${to}.${name}.bias`, 'f32', `${from}.${part}.bias`, [rows], heads);
      };
      add(`${to}.attn_norm.weight`, 'f32', `${from}.input_layernorm.weight`, [hiddenSize]);
      project('attn_q', 'self_attn.q_proj', headCount * headSize, hiddenSize, headCount);
      project('attn_k', 'self_attn.k_proj', kvHeadCount * headSize, hiddenSize, kvHeadCount);
      project('attn_v', 'self_attn.v_proj', kvHeadCount * headSize, hiddenSize);
      project('attn_output', 'self_attn.o_proj', hiddenSize, headCount * headSize);
      add(`${to}.ffn_norm.weight`, 'f32', `${from}.post_attention_layernorm.weight`, [hiddenSize]);
      project('ffn_gate', 'mlp.gate_proj', intermediateSize, hiddenSize);
      project('ffn_up', 'mlp.up_proj', intermediateSize, hiddenSize);
      project('ffn_down', 'mlp.down_proj', hiddenSize, intermediateSize);
    }

    const header = new GgufHeader();
    header.describeModel(config);
    header.describeVocabulary(vocabSize);
    let offset = 0;
    for (const { name, type, source } of tensors) {
      header.addTensor(name, source.shape, ggufTypes[type].id, offset);
      offset += aligned(byteLength(type, source));
    }
    const bytes = header.finish(tensors.length);
    await file.write(bytes);
    let position = aligned(bytes.length);
    for (const tensor of tensors) {
      await writeTensor(file, position, tensor);
      position += aligned(byteLength(tensor.type, tensor.source));
    }
    await file.truncate(position);
  } finally {
    await file.close();
    await checkpoint.close();
  }
}

async function writeTensor(file: FileHandle, start: number, tensor: GgufTensor): Promise<void> {
  const { source, type, rotatedHeads } = tensor;
  const { encode } = ggufTypes[type];
  const [rows, columns] =
    source.shape.length === 2 ? [source.shape[0]!, source.shape[1]!] : [1, count(source)];
  if (source.shape.length === 1 && rotatedHeads !== null) {
    const values = new Float32Array(columns);
    await source.readFloats(0, values);
    const rotated = values.map((_, i) => values[sourceRow(i, columns, rotatedHeads)]!);
    await file.write(encode(rotated), 0, undefined, start);
    return;
  }
  const row = new Float32Array(columns);
  let position = start;
  for (let index = 0; index < rows; index++) {
    const from = rotatedHeads === null ? index : sourceRow(index, rows, rotatedHeads);
    await source.readFloats(from * columns, row);
    const bytes = encode(row);
    await file.write(bytes, 0, bytes.length, position);
    position += bytes.length;
  }
}

/**
 * llama.cpp's `llama` rotates neighbouring rows of a head, `(2i, 2i + 1)`; a checkpoint keeps such a pair half a head
 * apart, `(i, i + half)`. Says which row of the checkpoint becomes row `index`.
 */
function sourceRow(index: number, rows: number, heads: number): number {
  const headSize = rows / heads;
  const head = Math.floor(index / headSize);
  const inside = index % headSize;
  return head * headSize + (inside % 2) * (headSize / 2) + (inside >> 1);
}

function count({ shape }: CheckpointTensor): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

function byteLength(type: GgufType, source: CheckpointTensor): number {
  const { blockLength, blockBytes } = ggufTypes[type];
  return (count(source) / blockLength) * blockBytes;
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}
