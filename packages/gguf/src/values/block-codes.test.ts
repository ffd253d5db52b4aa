// Codes of blocks against the values that `dequantise` gives, which are those of gguf-py.

import { describe, expect, it } from 'vitest';
import { seededBlocks } from '../testing/seeded-blocks.ts';
import { BLOCK_LENGTH, BLOCK_TYPES, type BlockType, readBlockCodes } from './block-codes.ts';
import { dequantise } from './dequantise.ts';
import { halfValue } from './half.ts';
import { readSuperBlockCodes, SUPER_BLOCK_LENGTH } from './super-block-codes.ts';

function valuesOf(type: BlockType, bytes: Uint8Array): Float32Array {
  const { blockBytes, offset } = BLOCK_TYPES[type];
  const values = new Float32Array((bytes.length / blockBytes) * BLOCK_LENGTH);
  const block = { codes: new Uint8Array(BLOCK_LENGTH), scale: 0, minimum: 0 };
  for (let i = 0; i * blockBytes < bytes.length; i++) {
    readBlockCodes(type, bytes, i * blockBytes, block);
    for (const [k, code] of block.codes.entries())
      values[i * BLOCK_LENGTH + k] = halfValue(block.scale) * (code - offset) + halfValue(block.minimum);
  }
  return values;
}

function dequantised(type: BlockType | 'Q3_K', bytes: Uint8Array, count: number): Float32Array {
  const target = new Float32Array(count);
  dequantise(type, bytes, target);
  return target;
}

it.each(Object.keys(BLOCK_TYPES) as BlockType[])('codes, scales and minimums of %s are its values', type => {
  const bytes = seededBlocks(type, 40 * BLOCK_LENGTH, 0.05, 3);
  // Zeros have no sign in codes.
  const expected = dequantised(type, bytes, 40 * BLOCK_LENGTH).map(value => value + 0);
  expect(valuesOf(type, bytes).map(value => value + 0)).toEqual(expected);
});

describe('powers of MXFP4', () => {
  /** Bytes of a block with every code twice. */
  const blockOf = (exponent: number) =>
    Uint8Array.of(exponent + 128, ...Array.from({ length: 16 }, (_, i) => i | (i << 4)));

  it('from the smallest to the largest of float16 are kept', () => {
    for (let exponent = -24; exponent <= 15; exponent++) {
      const bytes = blockOf(exponent);
      expect(valuesOf('MXFP4', bytes).map(value => value + 0)).toEqual(
        dequantised('MXFP4', bytes, BLOCK_LENGTH).map(value => value + 0),
      );
    }
  });

  it('below it round the values to its multiples', () => {
    for (const exponent of [-25, -27, -60, -128]) {
      const bytes = blockOf(exponent);
      const expected = dequantised('MXFP4', bytes, BLOCK_LENGTH);
      for (const [i, value] of valuesOf('MXFP4', bytes).entries())
        expect(Math.abs(value - expected[i]!)).toBeLessThanOrEqual(2 ** -25);
    }
  });

  it('beyond it are infinite, which the caller refuses', () => {
    expect(valuesOf('MXFP4', blockOf(16))).toContain(Number.POSITIVE_INFINITY);
  });
});

it('codes and scales of Q3_K are its values in the super-blocks of Q6_K', () => {
  const bytes = seededBlocks('Q3_K', 8 * SUPER_BLOCK_LENGTH, 0.05, 5);
  const block = { codes: new Uint8Array(256), scales: new Uint8Array(16), factor: 0, minimumFactor: 0 };
  const values = new Float32Array(8 * SUPER_BLOCK_LENGTH);
  for (let i = 0; i < 8; i++) {
    readSuperBlockCodes('Q3_K', bytes, 110 * i, block);
    const scales = new Int8Array(block.scales.buffer);
    for (const [k, code] of block.codes.entries())
      values[256 * i + k] = halfValue(block.factor) * scales[k >> 4]! * (code - 32) + 0;
  }
  expect(values).toEqual(dequantised('Q3_K', bytes, values.length).map(value => value + 0));
});
