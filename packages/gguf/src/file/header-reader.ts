// Reads the header of a GGUF file from front to back through one buffer. Every length is checked against the rest of the file
// before anything of that length is read or allocated.

import { isUtf8 } from 'node:buffer';
import { readSync } from 'node:fs';
import { GgufError, type GgufErrorDetails } from '../errors.ts';

/** Unit: bytes. */
const BUFFER_BYTES = 1 << 20;

/** No key, token or chat template is longer; a larger number is a damaged length. Unit: bytes. */
const MAX_STRING_BYTES = 1 << 26;

/** The same for a list of numbers, which has one for each token at most. Unit: bytes. */
const MAX_LIST_BYTES = 1 << 28;

const REPLACEMENT = '\ufffd';

/** What is being read, for messages. */
export type Place = Pick<GgufErrorDetails, 'key' | 'tensor'> & { readonly name: string };

export class HeaderReader {
  readonly #path: string;
  readonly #fd: number;
  readonly #size: number;
  #buffer = Buffer.alloc(0);
  /** Position in the file of the buffer's first byte. */
  #start = 0;
  /** Position in the buffer. */
  #at = 0;
  #place: Place = { name: 'the header' };

  constructor(path: string, fd: number, size: number) {
    this.#path = path;
    this.#fd = fd;
    this.#size = size;
  }

  /** Position in the file. */
  get position(): number {
    return this.#start + this.#at;
  }

  get remainingBytes(): number {
    return this.#size - this.position;
  }

  /** Names what is read next. Mutates: the reader. */
  enter(place: Place): void {
    this.#place = place;
  }

  uint32(): number {
    const at = this.#take(4);
    return this.#buffer.readUInt32LE(at);
  }

  uint64(): bigint {
    const at = this.#take(8);
    return this.#buffer.readBigUInt64LE(at);
  }

  /** A 64-bit count or offset. Throws: `corrupt` above 2^53. */
  count(): number {
    const value = this.uint64();
    if (value > BigInt(Number.MAX_SAFE_INTEGER))
      throw this.corrupt(`holds the number ${value}, which is not a size`);
    return Number(value);
  }

  /** A length of elements that take at least this many bytes each. Throws: `corrupt` when the rest of the file is too short. */
  length(elementBytes: number): number {
    const count = this.count();
    if (count * elementBytes <= this.remainingBytes) return count;
    throw this.corrupt(
      `claims ${count} elements at byte ${this.position}, and the file ends at byte ${this.#size}: it is truncated or damaged`,
    );
  }

  /** The next bytes, valid until the next call. */
  bytes(count: number): Buffer {
    if (count > MAX_LIST_BYTES)
      throw this.corrupt(`has a list of ${count} bytes; at most ${MAX_LIST_BYTES} are allowed`);
    const at = this.#take(count);
    return this.#buffer.subarray(at, at + count);
  }

  /** A length in 64 bits and this many bytes of UTF-8. */
  string(): string {
    const length = this.length(1);
    if (length > MAX_STRING_BYTES)
      throw this.corrupt(`has a string of ${length} bytes; at most ${MAX_STRING_BYTES} are allowed`);
    const at = this.#take(length);
    const text = this.#buffer.toString('utf8', at, at + length);
    // Checked only then, because most strings are tokens, of which there are hundreds of thousands.
    if (text.includes(REPLACEMENT) && !isUtf8(this.#buffer.subarray(at, at + length)))
      throw this.corrupt('has a string that is not UTF-8');
    return text;
  }

  corrupt(fault: string, cause?: unknown): GgufError {
    return this.#fault('corrupt', fault, cause);
  }

  unsupported(fault: string): GgufError {
    return this.#fault('unsupported', fault);
  }

  #fault(code: 'corrupt' | 'unsupported', fault: string, cause?: unknown): GgufError {
    const { name, key, tensor } = this.#place;
    return new GgufError(code, `${this.#path}, ${name}: ${fault}`, { file: this.#path, key, tensor, cause });
  }

  /** Position in the buffer of the next `count` bytes, which are in it. Throws: `corrupt` at the end of the file. */
  #take(count: number): number {
    if (count > this.remainingBytes) {
      const fault = `is truncated: ${count} bytes are expected at byte ${this.position}, and the file ends at byte ${this.#size}`;
      throw this.corrupt(fault);
    }
    if (this.#at + count > this.#buffer.length) this.#fill(count);
    const at = this.#at;
    this.#at += count;
    return at;
  }

  /** Moves the buffer to the current position, with at least `count` bytes. */
  #fill(count: number): void {
    const start = this.position;
    const wanted = Math.min(Math.max(BUFFER_BYTES, count), this.#size - start);
    const buffer = Buffer.allocUnsafe(wanted);
    let done = 0;
    while (done < wanted) {
      const read = readSync(this.#fd, buffer, done, wanted - done, start + done);
      if (read === 0) throw this.corrupt(`ended at byte ${start + done} while it was read`);
      done += read;
    }
    this.#buffer = buffer;
    this.#start = start;
    this.#at = 0;
  }
}
