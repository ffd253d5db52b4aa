// Writes GGUF files of tests, from the description of the format and not from the code that reads them.

import { blockLayout, type GgufType } from '../values/tensor-types.ts';

/** Numbers of the types in the file. */
const TYPE_IDS: Readonly<Record<GgufType, number>> = {
  F32: 0,
  F16: 1,
  Q4_0: 2,
  Q4_1: 3,
  Q5_0: 6,
  Q5_1: 7,
  Q8_0: 8,
  Q2_K: 10,
  Q3_K: 11,
  Q4_K: 12,
  Q5_K: 13,
  Q6_K: 14,
  IQ4_NL: 20,
  IQ4_XS: 23,
  BF16: 30,
  MXFP4: 39,
};

export type FieldToWrite =
  | string
  | boolean
  | readonly string[]
  | { readonly uint16: number }
  | { readonly uint32: number }
  | { readonly int32: number }
  | { readonly float32: number }
  | { readonly int32s: readonly number[] }
  | { readonly booleans: readonly boolean[] };

export interface TensorToWrite {
  readonly name: string;
  readonly type: GgufType;
  /** The first one varies fastest. */
  readonly dimensions: readonly number[];
  readonly bytes: Uint8Array;
}

export interface GgufToWrite {
  readonly metadata: Readonly<Record<string, FieldToWrite>>;
  readonly tensors: readonly TensorToWrite[];
  /** Default: 3. */
  readonly version?: number;
  /** Default: 32, without a key. */
  readonly alignment?: number;
}

export function encodeGguf({ metadata, tensors, version = 3, alignment }: GgufToWrite): Buffer {
  const fields =
    alignment === undefined ? metadata : { ...metadata, 'general.alignment': { uint32: alignment } };
  const step = alignment ?? 32;
  const aligned = (length: number) => Math.ceil(length / step) * step;
  const head = [
    Buffer.from('GGUF'),
    uint32(version),
    uint64(tensors.length),
    uint64(Object.keys(fields).length),
  ];
  for (const [key, field] of Object.entries(fields)) head.push(text(key), encodeField(field));
  let offset = 0;
  for (const { name, type, dimensions, bytes } of tensors) {
    checkLength(name, type, dimensions, bytes);
    const sizes = dimensions.map(uint64);
    head.push(text(name), uint32(dimensions.length), ...sizes, uint32(TYPE_IDS[type]), uint64(offset));
    offset += aligned(bytes.length);
  }
  const header = Buffer.concat(head);
  const parts = [padded(header, aligned(header.length))];
  for (const { bytes } of tensors) parts.push(padded(bytes, aligned(bytes.length)));
  return Buffer.concat(parts);
}

function checkLength(name: string, type: GgufType, dimensions: readonly number[], bytes: Uint8Array): void {
  const { blockLength, blockBytes } = blockLayout(type);
  const count = dimensions.reduce((product, size) => product * size, 1);
  if ((count / blockLength) * blockBytes !== bytes.length)
    throw new Error(`${name}: ${bytes.length} bytes are not [${dimensions}] in ${type}`);
}

function encodeField(field: FieldToWrite): Buffer {
  if (typeof field === 'string') return Buffer.concat([uint32(8), text(field)]);
  if (typeof field === 'boolean') return Buffer.concat([uint32(7), Buffer.of(field ? 1 : 0)]);
  if ('uint16' in field) return Buffer.concat([uint32(2), uint32(field.uint16).subarray(0, 2)]);
  if ('uint32' in field) return Buffer.concat([uint32(4), uint32(field.uint32)]);
  if ('int32' in field) return Buffer.concat([uint32(5), int32(field.int32)]);
  if ('float32' in field) return Buffer.concat([uint32(6), float32(field.float32)]);
  if ('booleans' in field)
    return Buffer.concat([
      uint32(9),
      uint32(7),
      uint64(field.booleans.length),
      Buffer.from(field.booleans.map(Number)),
    ]);
  if ('int32s' in field)
    return Buffer.concat([uint32(9), uint32(5), uint64(field.int32s.length), ...field.int32s.map(int32)]);
  return Buffer.concat([uint32(9), uint32(8), uint64(field.length), ...field.map(text)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function padded(bytes: Uint8Array, length: number): Buffer {
  const whole = Buffer.alloc(length);
  whole.set(bytes);
  return whole;
}
