// The model of a BPE tokenizer: words to token ids.

import { EngineError } from '../../errors.ts';
import type { MergeTable } from './merge-table.ts';
import { mergeWord } from './merge-word.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface BpeSettings {
  /** The token of characters that the vocabulary does not have; without one they are left out. */
  readonly unknownToken: string | null;
  /** Whether unknown characters side by side are one unknown token. */
  readonly fusesUnknown: boolean;
  /** Whether a character that is not a token becomes the tokens of its bytes, `<0x41>`. */
  readonly hasByteFallback: boolean;
  /** Whether a word that is a token is that token, whatever the merges would make of it. */
  readonly ignoresMerges: boolean;
}

/** Words are kept with their tokens up to this length (in UTF-16 code units) and this many of them. */
const KEPT_LENGTH = 32;
const KEPT_COUNT = 16_384;

/** Holds a cache, so use it from one thread. */
export class BpeModel {
  readonly #vocabulary: Vocabulary;
  readonly #merges: MergeTable;
  readonly #ignoresMerges: boolean;
  readonly #fusesUnknown: boolean;
  readonly #unknownToken: string | null;
  /** -1 where there is none. */
  readonly #unknownId: number;
  /** Ids of the bytes' tokens, -1 for bytes without; null where no character falls back to them. */
  readonly #byteIds: Int32Array | null;
  /** Ids of characters of one UTF-16 code unit; -1 for those that are not a token. */
  readonly #characterIds = new Int32Array(0x10000).fill(-1);
  readonly #kept = new Map<string, readonly number[]>();
  #ids = new Int32Array(256);

  constructor(vocabulary: Vocabulary, merges: MergeTable, settings: BpeSettings) {
    this.#vocabulary = vocabulary;
    this.#merges = merges;
    this.#ignoresMerges = settings.ignoresMerges;
    this.#fusesUnknown = settings.fusesUnknown;
    this.#unknownToken = settings.unknownToken;
    this.#unknownId = settings.unknownToken === null ? -1 : (vocabulary.idOf(settings.unknownToken) ?? -1);
    this.#byteIds = settings.hasByteFallback ? findByteTokens(vocabulary) : null;
    for (let id = 0; id < vocabulary.size; id++) {
      const { length } = vocabulary.bytesOf(id);
      if (length === 0 || length > 3) continue;
      const text = vocabulary.textOf(id);
      if (text.length === 1) this.#characterIds[text.charCodeAt(0)] = vocabulary.idOf(text)!;
    }
  }

  /**
   * Mutates: `ids`, by appending the tokens of the word. Throws: `model_invalid` for a character that only the unknown token could
   * stand for, where the vocabulary does not have that.
   */
  encodeWord(word: string, ids: number[]): void {
    const kept = this.#kept.get(word);
    if (kept !== undefined) {
      for (const id of kept) ids.push(id);
      return;
    }
    if (this.#ignoresMerges) {
      const whole = this.#vocabulary.idOf(word);
      if (whole !== undefined) {
        ids.push(whole);
        return;
      }
    }
    const length = this.#readCharacters(word);
    const count = mergeWord(this.#ids, length, this.#merges);
    for (let i = 0; i < count; i++) ids.push(this.#ids[i]!);
    if (word.length > KEPT_LENGTH) return;
    if (this.#kept.size >= KEPT_COUNT) this.#kept.clear();
    this.#kept.set(word, Array.from(this.#ids.subarray(0, count)));
  }

  /** Mutates: `#ids`, which gets the tokens of the single characters. Returns their number. */
  #readCharacters(word: string): number {
    // A code unit has at most three bytes.
    if (this.#ids.length < word.length * 3) this.#ids = new Int32Array(word.length * 3);
    const ids = this.#ids;
    let count = 0;
    // The original writes an unknown token when the next known character comes.
    let isUnknown = false;
    for (let at = 0; at < word.length; ) {
      const unit = word.charCodeAt(at);
      const isPair = unit >= 0xd800 && unit < 0xdc00;
      const character = isPair ? word.slice(at, at + 2) : '';
      const id = isPair ? (this.#vocabulary.idOf(character) ?? -1) : this.#characterIds[unit]!;
      if (id !== -1) {
        if (isUnknown) ids[count++] = this.#needUnknown();
        isUnknown = false;
        ids[count++] = id;
      } else {
        const bytes = this.#byteIds === null ? NO_BYTES : Buffer.from(isPair ? character : word[at]!);
        if (bytes.length > 0 && bytes.every(byte => this.#byteIds![byte] !== -1)) {
          for (const byte of bytes) ids[count++] = this.#byteIds![byte]!;
        } else if (this.#unknownToken !== null) {
          if (isUnknown && !this.#fusesUnknown) ids[count++] = this.#needUnknown();
          isUnknown = true;
        }
      }
      at += isPair ? 2 : 1;
    }
    if (isUnknown) ids[count++] = this.#needUnknown();
    return count;
  }

  #needUnknown(): number {
    if (this.#unknownId !== -1) return this.#unknownId;
    const fault = `its unknown token ${JSON.stringify(this.#unknownToken)} is not in the vocabulary`;
    throw new EngineError('model_invalid', `tokenizer.json of the model folder is unusable: ${fault}.`);
  }
}

const NO_BYTES = new Uint8Array(0);

function findByteTokens(vocabulary: Vocabulary): Int32Array {
  const nameOf = (byte: number) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
  return Int32Array.from({ length: 256 }, (_, byte) => vocabulary.idOf(nameOf(byte)) ?? -1);
}
