// A GGUF file of a shape with random weights, in float32 or in 4 bits.

import { writeFile } from 'node:fs/promises';
import type { GgufType } from '@ortler/gguf';
import { encodeGguf, type FieldToWrite, seededBlocks } from '@ortler/gguf/testing';
import { byteCharacters } from './gguf-header.ts';
import type { GgufShape, ShapeTensor, TensorRole } from './gguf-shapes.ts';
import type { GgufPrecision } from './write-gguf.ts';

const TYPES: Readonly<Record<TensorRole, GgufType>> = {
  matrix: 'Q4_0',
  table: 'Q8_0',
  // llama.cpp's quantiser leaves these alone too: kernels of convolutions, and routers.
  'float-matrix': 'F32',
  norm: 'F32',
  decay: 'F32',
};

/** Writes `path`; the same shape gives the same bytes. */
export async function writeRandomGguf(
  path: string,
  shape: GgufShape,
  precision: GgufPrecision,
  contextLength: number,
): Promise<void> {
  const { architecture, vocabSize, fields, tensors } = shape;
  const own = Object.entries({ ...fields, context_length: { uint32: contextLength } });
  await writeFile(
    path,
    encodeGguf({
      metadata: {
        'general.architecture': architecture,
        'general.name': 'random',
        ...Object.fromEntries(own.map(([key, value]) => [`${architecture}.${key}`, value])),
        ...tokenizerFields(vocabSize),
      },
      tensors: tensors.map((tensor, index) => {
        const type = precision === 'f32' ? 'F32' : TYPES[tensor.role];
        const { name, shape } = tensor;
        return { name, type, dimensions: shape.toReversed(), bytes: randomBytes(tensor, type, index) };
      }),
    }),
  );
}

/** Magnitudes keep activations about as large from layer to layer. */
function randomBytes({ role, shape }: ShapeTensor, type: GgufType, seed: number): Uint8Array {
  const count = shape.reduce((product, size) => product * size, 1);
  if (role === 'norm' || role === 'decay') {
    const values = new Float32Array(seededBlocks('F32', count, 0.25, seed).buffer);
    return new Uint8Array(values.map(value => (role === 'norm' ? 1 + value : -1 - value)).buffer);
  }
  return seededBlocks(type, count, Math.sqrt(3 / shape.at(-1)!), seed);
}

/** A vocabulary of bytes, what their one merge gives, and made-up words: the benchmark speaks in token ids. */
function tokenizerFields(vocabSize: number): Record<string, FieldToWrite> {
  const first = [...byteCharacters(), 'ab'];
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': Array.from({ length: vocabSize }, (_, id) => first[id] ?? `tok${id}`),
    'tokenizer.ggml.token_type': { int32s: Array.from({ length: vocabSize }, () => 1) },
    'tokenizer.ggml.merges': ['a b'],
    'tokenizer.ggml.bos_token_id': { uint32: 0 },
    'tokenizer.ggml.eos_token_id': { uint32: 1 },
  };
}
