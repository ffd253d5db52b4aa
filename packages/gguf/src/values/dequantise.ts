// Dequantisation of all served types to float32, bit for bit as gguf-py does it.

import { BLOCK_LENGTH, BLOCK_TYPES, type BlockType, readBlockCodes } from './block-codes.ts';
import { readIq4Xs, readMxfp4 } from './four-bit-floats.ts';
import { halfValue } from './half.ts';
import { readQ2K, readQ3K, readQ4K, readQ5K, readQ6K, type SuperBlockReader } from './k-quants.ts';
import { blockLayout, type GgufType } from './tensor-types.ts';

/**
 * Types with a reader of their own. MXFP4 has one although its blocks have codes: moved codes round scales
 * below float16.
 */
type TableType = 'MXFP4' | Exclude<GgufType, BlockType | 'F32' | 'F16' | 'BF16'>;

const READERS: Readonly<Record<TableType, SuperBlockReader>> = {
  Q2_K: readQ2K,
  Q3_K: readQ3K,
  Q4_K: readQ4K,
  Q5_K: readQ5K,
  Q6_K: readQ6K,
  IQ4_XS: readIq4Xs,
  MXFP4: readMxfp4,
};

/**
 * Dequantises the whole blocks in `bytes`, little-endian, which are `target.length` elements.
 *
 * Mutates: `target`. Throws: `RangeError` for another number of bytes.
 */
export function dequantise(type: GgufType, bytes: Uint8Array, target: Float32Array): void {
  const { blockLength, blockBytes } = blockLayout(type);
  if (bytes.length * blockLength !== target.length * blockBytes)
    throw new RangeError(`${bytes.length} bytes of ${type} are not ${target.length} elements`);
  switch (type) {
    case 'F32':
      new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes);
      return;
    case 'F16':
      for (let i = 0; i < target.length; i++) target[i] = halfValue(bytes[2 * i]! | (bytes[2 * i + 1]! << 8));
      return;
    case 'BF16':
      readBrainFloats(bytes, target);
      return;
    case 'Q8_0':
    case 'Q4_0':
    case 'Q4_1':
    case 'Q5_0':
    case 'Q5_1':
    case 'IQ4_NL':
      readBlocks(type, bytes, target);
      return;
    default: {
      const read = READERS[type];
      for (let at = 0, to = 0; at < bytes.length; at += blockBytes, to += blockLength)
        read(bytes, at, target, to);
    }
  }
}

/** The bits of a bfloat16 are the upper half of a float32's. Mutates: `target`. */
function readBrainFloats(bytes: Uint8Array, target: Float32Array): void {
  const bits = new Uint32Array(target.buffer, target.byteOffset, target.length);
  for (let i = 0; i < bits.length; i++) bits[i] = (bytes[2 * i]! | (bytes[2 * i + 1]! << 8)) << 16;
}

/** A code times a float16, and the sum with another one, are exact in doubles: the store is the one rounding. */
function readBlocks(type: BlockType, bytes: Uint8Array, target: Float32Array): void {
  const { blockBytes, offset, hasMinimum } = BLOCK_TYPES[type];
  const block = { codes: new Uint8Array(BLOCK_LENGTH), scale: 0, minimum: 0 };
  const { codes } = block;
  for (let at = 0, to = 0; at < bytes.length; at += blockBytes, to += BLOCK_LENGTH) {
    readBlockCodes(type, bytes, at, block);
    const scale = halfValue(block.scale);
    if (hasMinimum) {
      const minimum = halfValue(block.minimum);
      for (let i = 0; i < BLOCK_LENGTH; i++) target[to + i] = scale * codes[i]! + minimum;
    } else {
      for (let i = 0; i < BLOCK_LENGTH; i++) target[to + i] = scale * (codes[i]! - offset);
    }
  }
}
