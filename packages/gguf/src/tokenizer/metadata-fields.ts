// Typed access to the tokenizer's metadata: each value is checked when it is read, and an error names its key.

import { GgufError } from '../errors.ts';
import type { GgufMetadata, GgufValue } from '../metadata.ts';

export class MetadataFields {
  readonly #metadata: GgufMetadata;
  readonly #file: string;

  constructor(metadata: GgufMetadata, file: string) {
    this.#metadata = metadata;
    this.#file = file;
  }

  /** Undefined where the file does not have the key. Throws: `corrupt`. */
  text(key: string): string | undefined {
    const value = this.#metadata.get(key);
    if (value !== undefined && typeof value !== 'string') throw this.#wrongType(key, 'a string', value);
    return value;
  }

  /** Undefined where the file does not have the key. Throws: `corrupt`. */
  flag(key: string): boolean | undefined {
    const value = this.#metadata.get(key);
    if (value !== undefined && typeof value !== 'boolean') throw this.#wrongType(key, 'a boolean', value);
    return value;
  }

  /** Undefined where the file does not have the key. Throws: `corrupt`. */
  texts(key: string): readonly string[] | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined) return undefined;
    if (!isTexts(value)) throw this.#wrongType(key, 'an array of strings', value);
    return value;
  }

  /** Undefined where the file does not have the key. Throws: `corrupt` unless the array has `count` numbers. */
  numbers(key: string, count: number): ArrayLike<number> | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined) return undefined;
    if (!isNumbers(value)) throw this.#wrongType(key, 'an array of numbers', value);
    if (value.length !== count)
      throw this.corrupt(key, `has ${value.length} numbers for ${count} tokens (tokenizer.ggml.tokens)`);
    return value;
  }

  /** An id below `tokenCount`; undefined where the file does not have the key. Throws: `corrupt`. */
  tokenId(key: string, tokenCount: number): number | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'number' && typeof value !== 'bigint')
      throw this.#wrongType(key, 'an integer', value);
    const id = Number(value);
    if (!Number.isInteger(id) || id < 0 || id >= tokenCount)
      throw this.corrupt(key, `is ${value}, which is not an id of a vocabulary of ${tokenCount} tokens`);
    return id;
  }

  /** Keys that begin with `prefix`, with what follows it. */
  keysAfter(prefix: string): readonly string[] {
    return [...this.#metadata.keys()]
      .filter(key => key.startsWith(prefix))
      .map(key => key.slice(prefix.length));
  }

  corrupt(key: string, problem: string): GgufError {
    return new GgufError('corrupt', this.#describe(key, problem), { file: this.#file, key });
  }

  unsupported(key: string, problem: string): GgufError {
    return new GgufError('unsupported', this.#describe(key, problem), { file: this.#file, key });
  }

  #wrongType(key: string, expected: string, value: GgufValue): GgufError {
    const found = typeof value === 'object' ? 'an array of another type' : `a ${typeof value}`;
    return this.corrupt(key, `must be ${expected}, found ${found}`);
  }

  #describe(key: string, problem: string): string {
    return `${this.#file}, metadata key ${JSON.stringify(key)}: ${problem}`;
  }
}

function isTexts(value: GgufValue): value is readonly string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string');
}

function isNumbers(value: GgufValue): value is Exclude<GgufValue, string> & ArrayLike<number> {
  return ArrayBuffer.isView(value) && !(value instanceof BigInt64Array) && !(value instanceof BigUint64Array);
}
