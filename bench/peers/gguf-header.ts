// The part of a GGUF file before its tensors: what the model is, its vocabulary, and where each tensor lies.

import type { DecoderConfig } from '@ortler/model-builder/testing';

const VERSION = 3;
/** Numbers that GGUF gives the types of values. */
const VALUE = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 } as const;
const NORMAL_TOKEN = 1;
const BYTE_COUNT = 256;

export class GgufHeader {
  readonly #values: Buffer[] = [];
  readonly #tensors: Buffer[] = [];

  describeModel(config: DecoderConfig): void {
    const { modelType, ropes } = config;
    const rope = ropes[0]!;
    if (rope.scaling.kind !== 'none') throw new Error('Rope scaling is not written.');
    this.#string('general.architecture', modelType);
    this.#string('general.name', 'random');
    this.#uint32(`${modelType}.block_count`, config.layerCount);
    this.#uint32(`${modelType}.context_length`, config.contextLength);
    this.#uint32(`${modelType}.embedding_length`, config.hiddenSize);
    this.#uint32(`${modelType}.feed_forward_length`, config.intermediateSize);
    this.#uint32(`${modelType}.attention.head_count`, config.headCount);
    this.#uint32(`${modelType}.attention.head_count_kv`, config.kvHeadCount);
    this.#uint32(`${modelType}.rope.dimension_count`, config.headSize);
    this.#uint32(`${modelType}.vocab_size`, config.vocabSize);
    this.#float32(`${modelType}.attention.layer_norm_rms_epsilon`, config.norm.epsilon);
    this.#float32(`${modelType}.rope.freq_base`, rope.theta);
  }

  /** A vocabulary of bytes and made-up words: the benchmark speaks in token ids. */
  describeVocabulary(vocabSize: number): void {
    const tokens = byteCharacters();
    for (let id = BYTE_COUNT; id < vocabSize; id++) tokens.push(`tok${id}`);
    this.#string('tokenizer.ggml.model', 'gpt2');
    this.#string('tokenizer.ggml.pre', 'gpt-2');
    this.#array('tokenizer.ggml.tokens', VALUE.string, tokens.map(text));
    this.#array(
      'tokenizer.ggml.token_type',
      VALUE.int32,
      tokens.map(() => uint32(NORMAL_TOKEN)),
    );
    this.#array('tokenizer.ggml.merges', VALUE.string, [text('a b')]);
    this.#uint32('tokenizer.ggml.bos_token_id', 0);
    this.#uint32('tokenizer.ggml.eos_token_id', 1);
  }

  /** `shape` as checkpoints say it, slowest dimension first. Unit of `offset`: bytes from the first tensor. */
  addTensor(name: string, shape: readonly number[], type: number, offset: number): void {
    const dims = [...shape].reverse();
    this.#tensors.push(
      Buffer.concat([text(name), uint32(dims.length), ...dims.map(uint64), uint32(type), uint64(offset)]),
    );
  }

  finish(tensorCount: number): Buffer {
    const counts = [uint64(tensorCount), uint64(this.#values.length)];
    return Buffer.concat([
      Buffer.from('GGUF'),
      uint32(VERSION),
      ...counts,
      ...this.#values,
      ...this.#tensors,
    ]);
  }

  #string(key: string, value: string): void {
    this.#values.push(Buffer.concat([text(key), uint32(VALUE.string), text(value)]));
  }

  #uint32(key: string, value: number): void {
    this.#values.push(Buffer.concat([text(key), uint32(VALUE.uint32), uint32(value)]));
  }

  #float32(key: string, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    this.#values.push(Buffer.concat([text(key), uint32(VALUE.float32), bytes]));
  }

  #array(key: string, type: number, items: readonly Buffer[]): void {
    const head = [text(key), uint32(VALUE.array), uint32(type), uint64(items.length)];
    this.#values.push(Buffer.concat([...head, ...items]));
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

/** The printable character that stands for each byte in byte-level vocabularies. */
export function byteCharacters(): string[] {
  let next = 0x100;
  return Array.from({ length: BYTE_COUNT }, (_, byte) => {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    return String.fromCodePoint(isPrintable ? byte : next++);
  });
}
