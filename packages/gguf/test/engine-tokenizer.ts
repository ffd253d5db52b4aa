// The engine's tokenizer on files made from GGUF metadata. It is imported by its path, because the ids that it gives are what
// the files are made for, and the engine exports no tokenizer.

import { Tokenizer } from '../../engine/src/text/tokenizer.ts';
import { parseTokenizerJson } from '../../engine/src/text/tokenizer-json.ts';
import type { GgufMetadata, GgufValue } from '../src/metadata.ts';
import { type GgufTokenizer, readGgufTokenizer } from '../src/tokenizer/read-tokenizer.ts';

/** Metadata as the JSON of a golden has it. */
export type JsonMetadata = Readonly<Record<string, string | number | boolean | string[] | number[]>>;

/** The file reader gives typed arrays. */
export function toMetadata(json: JsonMetadata): GgufMetadata {
  return new Map(Object.entries(json).map(([key, value]) => [key, toValue(key, value)]));
}

function toValue(key: string, value: JsonMetadata[string]): GgufValue {
  if (!Array.isArray(value) || typeof value[0] !== 'number') return value as Exclude<typeof value, number[]>;
  const numbers = value as number[];
  return key.endsWith('scores') ? Float32Array.from(numbers) : Int32Array.from(numbers);
}

/** Loads the files through JSON, as they lie in a folder. */
export function loadTokenizer({ tokenizer, config, generation }: GgufTokenizer): Tokenizer {
  return new Tokenizer({
    tokenizer: parseTokenizerJson(Buffer.from(JSON.stringify(tokenizer))),
    config: JSON.parse(JSON.stringify(config)),
    modelConfig: {},
    generationConfig: JSON.parse(JSON.stringify(generation)),
  });
}

export function tokenizerOf(json: JsonMetadata): Tokenizer {
  return loadTokenizer(readGgufTokenizer(toMetadata(json), 'golden.gguf'));
}
