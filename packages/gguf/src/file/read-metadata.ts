// Reads the key-value pairs of a GGUF header.
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

import type { GgufMetadata, GgufValue } from '../metadata.ts';
import type { HeaderReader } from './header-reader.ts';

/** Numbers of the types of values that are not numbers. */
const BOOL = 7;
const STRING = 8;
const ARRAY = 9;

/** A type of numbers: how arrays of it are held, and how a single one is. */
interface NumberType {
  readonly bytes: number;
  read(view: DataView): number | bigint;
  array(buffer: ArrayBuffer): Exclude<GgufValue, string | number | bigint | boolean | readonly GgufValue[]>;
}

const NUMBERS: ReadonlyMap<number, NumberType> = new Map<number, NumberType>([
  [0, { bytes: 1, read: view => view.getUint8(0), array: buffer => new Uint8Array(buffer) }],
  [1, { bytes: 1, read: view => view.getInt8(0), array: buffer => new Int8Array(buffer) }],
  [2, { bytes: 2, read: view => view.getUint16(0, true), array: buffer => new Uint16Array(buffer) }],
  [3, { bytes: 2, read: view => view.getInt16(0, true), array: buffer => new Int16Array(buffer) }],
  [4, { bytes: 4, read: view => view.getUint32(0, true), array: buffer => new Uint32Array(buffer) }],
  [5, { bytes: 4, read: view => view.getInt32(0, true), array: buffer => new Int32Array(buffer) }],
  [6, { bytes: 4, read: view => view.getFloat32(0, true), array: buffer => new Float32Array(buffer) }],
  [10, { bytes: 8, read: view => view.getBigUint64(0, true), array: buffer => new BigUint64Array(buffer) }],
  [11, { bytes: 8, read: view => view.getBigInt64(0, true), array: buffer => new BigInt64Array(buffer) }],
  [12, { bytes: 8, read: view => view.getFloat64(0, true), array: buffer => new Float64Array(buffer) }],
]);

/** Length of a key, type of its value, one byte of value. */
export const SMALLEST_PAIR_BYTES = 8 + 4 + 1;

/** Arrays of arrays are allowed by the format; no known key has more than one level of them. */
const MAX_DEPTH = 4;

/** Throws: `corrupt`, `unsupported`. */
export function readMetadata(reader: HeaderReader, pairCount: number): GgufMetadata {
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < pairCount; i++) {
    reader.enter({ name: `metadata pair ${i + 1} of ${pairCount}` });
    const key = reader.string();
    reader.enter({ name: `metadata key ${JSON.stringify(key)}`, key });
    if (metadata.has(key)) throw reader.corrupt('is there twice');
    metadata.set(key, readValue(reader, reader.uint32()));
  }
  return metadata;
}

function readValue(reader: HeaderReader, type: number, depth = 0): GgufValue {
  if (type === STRING) return reader.string();
  if (type === BOOL) return readBool(reader);
  if (type === ARRAY) return readArray(reader, depth + 1);
  const { bytes, read } = numberType(reader, type);
  const source = reader.bytes(bytes);
  return read(new DataView(source.buffer, source.byteOffset, bytes));
}

function readArray(reader: HeaderReader, depth: number): GgufValue {
  if (depth > MAX_DEPTH) throw reader.corrupt(`has arrays in more than ${MAX_DEPTH} levels`);
  const type = reader.uint32();
  // Each element is pushed when it has been read: memory grows with the file, not with the length that it claims.
  if (type === STRING) {
    const strings: string[] = [];
    for (let left = reader.length(8); left > 0; left--) strings.push(reader.string());
    return strings;
  }
  if (type === BOOL) {
    const flags: boolean[] = [];
    for (let left = reader.length(1); left > 0; left--) flags.push(readBool(reader));
    return flags;
  }
  if (type === ARRAY) {
    const arrays: GgufValue[] = [];
    for (let left = reader.length(12); left > 0; left--) arrays.push(readArray(reader, depth + 1));
    return arrays;
  }
  const { bytes, array } = numberType(reader, type);
  const source = reader.bytes(reader.length(bytes) * bytes);
  // A copy of its own, so that it is aligned and does not keep the buffer of the reader.
  const copy = new Uint8Array(source.length);
  copy.set(source);
  return array(copy.buffer);
}

function readBool(reader: HeaderReader): boolean {
  const byte = reader.bytes(1)[0]!;
  if (byte > 1) throw reader.corrupt(`has the boolean ${byte}; allowed: 0 and 1`);
  return byte === 1;
}

function numberType(reader: HeaderReader, type: number): NumberType {
  const found = NUMBERS.get(type);
  if (found === undefined) throw reader.corrupt(`has a value of type ${type}; allowed: 0 to 12`);
  return found;
}
