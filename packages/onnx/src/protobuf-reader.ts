// Reader of the protobuf wire format over a file: fields are passed one by one, and content that nobody asks for (the
// weights inside a model file, mostly) is never read. It knows no ONNX; `read-graph.ts` holds the field numbers.
// Source: https://protobuf.dev/programming-guides/encoding/

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;
const WINDOW_BYTES = 64 * 1024;
/** Names, small messages and attributes are far smaller: a larger field means that the file is malformed. */
const LONGEST_CONTENT_BYTES = 1 << 20;
/** The same for lists of integers that are read, which are dimensions: one that is malformed would take many times its bytes. */
const LONGEST_INTEGERS_BYTES = 1 << 12;

/** One field of a message. */
export interface ProtoField {
  readonly number: number;
  /** The value of an integer field; the length in bytes of any other. */
  readonly value: bigint;
  /** Where its content begins and ends, for a text, bytes or a message. */
  readonly start: number;
  readonly end: number;
}

/** The file is malformed: `message` says where. */
export class MalformedProto extends Error {
  override readonly name = 'MalformedProto';
}

export class ProtoFile {
  readonly length: number;
  readonly #descriptor: number;
  readonly #window = new Uint8Array(WINDOW_BYTES);
  #windowStart = 0;
  #windowLength = 0;

  /** Throws: what the system says of a file that cannot be opened. */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.length = fstatSync(this.#descriptor).size;
  }

  /** Whether its first bytes are this text, in ASCII. */
  beginsWith(text: string): boolean {
    return this.length >= text.length && Buffer.from(this.#read(0, text.length)).toString('latin1') === text;
  }

  /** The fields of the message in `[start, end)`, in their order. Throws: `MalformedProto`. */
  *fields(start = 0, end = this.length): Generator<ProtoField> {
    let position = start;
    while (position < end) {
      const tag = this.#varint(position, end);
      const number = Number(tag.value >> 3n);
      const content = this.#content(Number(tag.value & 7n), tag.next, end);
      if (content.end > end) throw malformed(position, 'a field goes beyond its message');
      yield { number, ...content };
      position = content.end;
    }
  }

  text({ start, end }: ProtoField): string {
    return Buffer.from(this.#read(start, end)).toString('utf8');
  }

  /** Integers of a field that holds one, or several packed. */
  integers({ start, end, value }: ProtoField): number[] {
    if (start === end) return [Number(BigInt.asIntN(64, value))];
    if (end - start > LONGEST_INTEGERS_BYTES)
      throw malformed(start, `a list of integers has ${end - start} bytes`);
    const values: number[] = [];
    for (let position = start; position < end; ) {
      const item = this.#varint(position, end);
      values.push(Number(BigInt.asIntN(64, item.value)));
      position = item.next;
    }
    return values;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #content(wireType: number, position: number, end: number): Omit<ProtoField, 'number'> {
    if (wireType === VARINT) {
      const { value, next } = this.#varint(position, end);
      return { value, start: next, end: next };
    }
    if (wireType === LENGTH_DELIMITED) {
      const { value, next } = this.#varint(position, end);
      return { value, start: next, end: next + Number(value) };
    }
    const size = wireType === FIXED64 ? 8 : wireType === FIXED32 ? 4 : undefined;
    if (size === undefined) throw malformed(position, `a field has the unknown wire type ${wireType}`);
    return { value: BigInt(size), start: position, end: position + size };
  }

  #varint(start: number, end: number): { readonly value: bigint; readonly next: number } {
    let value = 0n;
    for (let index = 0; index < 10 && start + index < end; index++) {
      const byte = this.#byte(start + index);
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return { value, next: start + index + 1 };
    }
    throw malformed(start, 'a number does not end');
  }

  #byte(position: number): number {
    const offset = position - this.#windowStart;
    if (offset >= 0 && offset < this.#windowLength) return this.#window[offset]!;
    this.#windowLength = readSync(this.#descriptor, this.#window, 0, WINDOW_BYTES, position);
    this.#windowStart = position;
    if (this.#windowLength === 0) throw malformed(position, 'the file ends');
    return this.#window[0]!;
  }

  #read(start: number, end: number): Uint8Array {
    if (end - start > LONGEST_CONTENT_BYTES) throw malformed(start, `a text has ${end - start} bytes`);
    const bytes = new Uint8Array(end - start);
    if (readSync(this.#descriptor, bytes, 0, bytes.length, start) < bytes.length)
      throw malformed(start, 'the file ends');
    return bytes;
  }
}

function malformed(position: number, problem: string): MalformedProto {
  return new MalformedProto(`at byte ${position}, ${problem}`);
}
