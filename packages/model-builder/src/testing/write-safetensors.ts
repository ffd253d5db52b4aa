// Writes safetensors files in chunks, for checkpoints of tests and benchmarks.

import { open } from 'node:fs/promises';
import type { CheckpointType } from '../hugging-face/element-types.ts';

export interface TensorToWrite {
  readonly name: string;
  readonly shape: readonly number[];
  /** Fills `target` with the elements from `start` on. */
  fill(target: Float32Array, start: number): void;
}

/** Unit: elements. */
const PIECE_ELEMENTS = 1 << 20;

/** Writes all tensors in the given order. Values are rounded to nearest even in the 16-bit types. */
export async function writeSafetensors(
  path: string,
  type: CheckpointType,
  tensors: readonly TensorToWrite[],
): Promise<void> {
  const elementBytes = type === 'F32' ? 4 : 2;
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let end = 0;
  for (const { name, shape } of tensors) {
    const begin = end;
    end += elementCount(shape) * elementBytes;
    header[name] = { dtype: type, shape, data_offsets: [begin, end] };
  }
  const json = JSON.stringify(header);
  // Pads the header so that tensors are aligned to eight bytes, as in the reference implementation.
  const headerBytes = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const lengthField = Buffer.alloc(8);
  lengthField.writeBigUInt64LE(BigInt(headerBytes.length));
  const file = await open(path, 'w');
  try {
    await file.writeFile(lengthField);
    await file.writeFile(headerBytes);
    for (const tensor of tensors) {
      const count = elementCount(tensor.shape);
      for (let start = 0; start < count; start += PIECE_ELEMENTS) {
        const piece = new Float32Array(Math.min(PIECE_ELEMENTS, count - start));
        tensor.fill(piece, start);
        await file.writeFile(encode(type, piece));
      }
    }
  } finally {
    await file.close();
  }
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

function encode(type: CheckpointType, values: Float32Array<ArrayBuffer>): Uint8Array {
  if (type === 'F32') return new Uint8Array(values.buffer);
  const halves = new Uint16Array(values.length);
  if (type === 'F16') {
    new Float16Array(halves.buffer).set(values);
  } else {
    const bits = new Uint32Array(values.buffer);
    // Adding 0x7fff plus the lowest kept bit before truncation rounds to nearest even.
    for (let i = 0; i < bits.length; i++) halves[i] = (bits[i]! + 0x7fff + ((bits[i]! >>> 16) & 1)) >>> 16;
  }
  return new Uint8Array(halves.buffer);
}
