// MessagePack for the values of KV-cache events. Source: https://github.com/msgpack/msgpack/blob/master/spec.md.

/** A whole number of 64 bits without a sign. */
export interface Uint64 {
  readonly high: number;
  readonly low: number;
}

export type PackedValue =
  | null
  | string
  | number
  | Uint64
  | readonly PackedValue[]
  | ReadonlyMap<string, PackedValue>;

/** Whole numbers from 0 to 2 ** 32 - 1 are integers, all others floats of 64 bits. */
export function packMessage(value: PackedValue): Buffer {
  const writer = new Writer();
  writer.write(value);
  return writer.bytes;
}

class Writer {
  #buffer = Buffer.alloc(1_024);
  #length = 0;

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  write(value: PackedValue): void {
    if (value === null) this.#byte(0xc0);
    else if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#number(value);
    else if (value instanceof Map) {
      this.#head(value.size, 0x80, 0xde);
      for (const [name, entry] of value) {
        this.#text(name);
        this.write(entry);
      }
    } else if (Array.isArray(value)) {
      this.#head(value.length, 0x90, 0xdc);
      for (const entry of value as readonly PackedValue[]) this.write(entry);
    } else {
      this.#byte(0xcf);
      const { high, low } = value as Uint64;
      this.#uint32(high);
      this.#uint32(low);
    }
  }

  #number(value: number): void {
    if (Number.isInteger(value) && value >= 0 && value < 2 ** 32) {
      if (value < 0x80) this.#byte(value);
      else if (value < 0x1_0000) {
        this.#byte(0xcd);
        this.#uint16(value);
      } else {
        this.#byte(0xce);
        this.#uint32(value);
      }
      return;
    }
    this.#byte(0xcb);
    this.#length = this.#room(8).writeDoubleBE(value, this.#length);
  }

  #text(text: string): void {
    const length = Buffer.byteLength(text);
    if (length < 32) this.#byte(0xa0 | length);
    else if (length < 0x1_0000) {
      this.#byte(0xda);
      this.#uint16(length);
    } else {
      this.#byte(0xdb);
      this.#uint32(length);
    }
    this.#room(length).write(text, this.#length);
    this.#length += length;
  }

  /** Of an array or a map: up to 15 entries are counted in the first byte, more after it. */
  #head(count: number, short: number, long: number): void {
    if (count < 16) this.#byte(short | count);
    else if (count < 0x1_0000) {
      this.#byte(long);
      this.#uint16(count);
    } else {
      this.#byte(long + 1);
      this.#uint32(count);
    }
  }

  #byte(value: number): void {
    this.#length = this.#room(1).writeUInt8(value, this.#length);
  }

  #uint16(value: number): void {
    this.#length = this.#room(2).writeUInt16BE(value, this.#length);
  }

  #uint32(value: number): void {
    this.#length = this.#room(4).writeUInt32BE(value, this.#length);
  }

  /** The buffer, with room for this many more bytes. */
  #room(count: number): Buffer {
    if (this.#length + count > this.#buffer.length) {
      const larger = Buffer.alloc(Math.max(2 * this.#buffer.length, this.#length + count));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    return this.#buffer;
  }
}
