// The texts of a vocabulary in flat tables: UTF-8 of all tokens one after the other, and a hash table from text to id. A token
// does not become a JavaScript string until someone asks for its text.

import { ByteSink } from './byte-sink.ts';

/** Collects the tokens of a vocabulary; a text that comes again has its last id. */
export class VocabularyBuilder {
  readonly #texts: ByteSink;
  #ends = new Uint32Array(1024);
  #ids = new Uint32Array(1024);
  #count = 0;

  /** `textBytes`: about how many bytes the texts have together. */
  constructor(textBytes: number) {
    this.#texts = new ByteSink(textBytes);
  }

  /** The text of the next token is appended here, and then `add` called. */
  get sink(): ByteSink {
    return this.#texts;
  }

  /** Start of the text whose id has not been given yet. */
  get textStart(): number {
    return this.#count === 0 ? 0 : this.#ends[this.#count - 1]!;
  }

  add(id: number): void {
    if (this.#count === this.#ends.length) {
      this.#ends = grown(this.#ends);
      this.#ids = grown(this.#ids);
    }
    this.#ends[this.#count] = this.#texts.length;
    this.#ids[this.#count++] = id;
  }

  build(): Vocabulary {
    return new Vocabulary(
      this.#texts.toBytes(),
      this.#ends.slice(0, this.#count),
      this.#ids.slice(0, this.#count),
    );
  }
}

/** Where hashes begin. Nobody knows it beforehand, so no file can have texts that all take the same place. */
const SEED = Math.floor(Math.random() * 2 ** 32);

export class Vocabulary {
  /** One more than the largest id. */
  readonly size: number;
  readonly #texts: Uint8Array;
  /** End of each entry's text, in the order of the file. */
  readonly #ends: Uint32Array;
  readonly #ids: Uint32Array;
  /** One more than the entry of each id; 0 for an id without token. */
  readonly #entryOf: Uint32Array;
  /** One more than the entry; 0 for a free place. Collisions take the next places. */
  readonly #places: Uint32Array;
  readonly #mask: number;

  constructor(texts: Uint8Array, ends: Uint32Array, ids: Uint32Array) {
    this.#texts = texts;
    this.#ends = ends;
    this.#ids = ids;
    let size = 0;
    for (const id of ids) size = Math.max(size, id + 1);
    this.size = size;
    this.#entryOf = new Uint32Array(size);
    const places = 2 ** Math.ceil(Math.log2(Math.max(16, ids.length * 2)));
    this.#places = new Uint32Array(places);
    this.#mask = places - 1;
    for (let entry = 0; entry < ids.length; entry++) {
      this.#entryOf[ids[entry]!] = entry + 1;
      this.#places[this.#placeOf(texts, this.#startOf(entry), ends[entry]!)] = entry + 1;
    }
  }

  /** Id of the token with these bytes as its text; -1 where there is none. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const entry = this.#places[this.#placeOf(bytes, start, end)]!;
    return entry === 0 ? -1 : this.#ids[entry - 1]!;
  }

  idOf(text: string): number | undefined {
    const bytes = Buffer.from(text);
    const id = this.find(bytes, 0, bytes.length);
    return id === -1 ? undefined : id;
  }

  has(id: number): boolean {
    return id >= 0 && id < this.size && this.#entryOf[id] !== 0;
  }

  /** A view; do not write to it. Empty for an id without token. */
  bytesOf(id: number): Uint8Array {
    if (!this.has(id)) return this.#texts.subarray(0, 0);
    const entry = this.#entryOf[id]! - 1;
    return this.#texts.subarray(this.#startOf(entry), this.#ends[entry]);
  }

  textOf(id: number): string {
    const { buffer, byteOffset, length } = this.bytesOf(id);
    return Buffer.from(buffer, byteOffset, length).toString();
  }

  #startOf(entry: number): number {
    return entry === 0 ? 0 : this.#ends[entry - 1]!;
  }

  /** Place of the text in the hash table, or the free place that it would take. */
  #placeOf(bytes: Uint8Array, start: number, end: number): number {
    // FNV-1a.
    let hash = SEED;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    let place = (hash ^ (hash >>> 15)) & this.#mask;
    for (;;) {
      const entry = this.#places[place]!;
      if (entry === 0 || this.#isText(entry - 1, bytes, start, end)) return place;
      place = (place + 1) & this.#mask;
    }
  }

  #isText(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#startOf(entry);
    if (this.#ends[entry]! - from !== end - start) return false;
    const texts = this.#texts;
    for (let i = 0; i < end - start; i++) if (texts[from + i] !== bytes[start + i]) return false;
    return true;
  }
}

function grown(table: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(table.length * 2);
  larger.set(table);
  return larger;
}
