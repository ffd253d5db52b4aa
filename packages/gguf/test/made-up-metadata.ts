// Small vocabularies as GGUF metadata, for tests of what the reader makes of them.

import { GgufError } from '../src/errors.ts';
import type { GgufMetadata, GgufValue } from '../src/metadata.ts';
import { type GgufTokenizer, readGgufTokenizer } from '../src/tokenizer/read-tokenizer.ts';

const TYPE = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;
export type MadeUpToken = readonly [text: string, type?: keyof typeof TYPE];
export type Changes = Readonly<Record<string, GgufValue | undefined>>;

/** Reads metadata with some values changed; undefined takes a key away. */
export function readChanged(metadata: GgufMetadata, changes: Changes = {}): GgufTokenizer {
  const changed = new Map(metadata);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) changed.delete(key);
    else changed.set(key, value);
  }
  return readGgufTokenizer(changed, 'model.gguf');
}

export function byteLevel(): Map<string, GgufValue> {
  return new Map([
    ...vocabulary('gpt2', [
      ['<|im_start|>', 'control'],
      ['<|im_end|>', 'control'],
      ['a'],
      ['b'],
      ['c'],
      ['ab'],
      ['abc'],
      ['\u0120'],
      ['<think>', 'userDefined'],
      ['<unused0>', 'unused'],
    ]),
    ['tokenizer.ggml.pre', 'gpt-2'],
    ['tokenizer.ggml.merges', ['a b', 'ab c']],
    ['tokenizer.ggml.bos_token_id', 0],
    ['tokenizer.ggml.eos_token_id', 1],
  ]);
}

export function sentencePiece(): Map<string, GgufValue> {
  return vocabulary('llama', [
    ['<unk>', 'unknown'],
    ['<s>', 'control'],
    ['</s>', 'control'],
    ['  ', 'userDefined'],
    ['\u2581'],
    ['a'],
    ['b'],
    ['ab'],
    ['\u2581ab'],
    ['<0x0A>', 'byte'],
    ['<unused0>', 'unused'],
  ]);
}

/** Scores fall with the ids. */
export function vocabulary(model: string, tokens: readonly MadeUpToken[]): Map<string, GgufValue> {
  return new Map<string, GgufValue>([
    ['tokenizer.ggml.model', model],
    ['tokenizer.ggml.tokens', tokens.map(([text]) => text)],
    ['tokenizer.ggml.token_type', Int32Array.from(tokens, ([, type]) => TYPE[type ?? 'normal'])],
    ['tokenizer.ggml.scores', Float32Array.from(tokens, (_, id) => -id)],
  ]);
}

export function errorOf(call: () => unknown): GgufError {
  try {
    call();
  } catch (error) {
    if (error instanceof GgufError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
