import { describe, expect, it, test } from 'vitest';
import {
  BLOCK_INPUTS,
  type BlockCodes,
  blockBytes,
  isSuperBlockFormat,
  packBlock,
  packSuperBlock,
  type QuantisedFormat,
  SUPER_BLOCK_INPUTS,
  type SuperBlockCodes,
  superBlockBytes,
  TILE_OUTPUTS,
  tileBytes,
  unpackBlock,
  unpackSuperBlock,
  WEIGHT_FORMATS,
} from './tiles.ts';

const FORMATS = (Object.keys(WEIGHT_FORMATS) as (keyof typeof WEIGHT_FORMATS)[]).filter(
  (format): format is QuantisedFormat => format !== 'f32' && !isSuperBlockFormat(format),
);

const emptyBlock = (): BlockCodes => ({
  codes: new Uint8Array(TILE_OUTPUTS * BLOCK_INPUTS),
  scales: new Uint16Array(TILE_OUTPUTS),
  minimums: new Uint16Array(TILE_OUTPUTS),
});

test.each(FORMATS)('a block of %s is read as it was written, between others', format => {
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];
  const block = emptyBlock();
  for (let i = 0; i < block.codes.length; i++) block.codes[i] = (i * 37 + (i >> 5)) % 2 ** bits;
  for (let i = 0; i < TILE_OUTPUTS; i++) {
    block.scales[i] = 0x1234 + 777 * i;
    block.minimums[i] = hasMinimum ? 0x9876 + 555 * i : 0;
  }
  const size = blockBytes(format);
  const tile = new Uint8Array(3 * size);
  packBlock(format, block, tile, size);
  const read = emptyBlock();
  read.minimums.fill(1);
  unpackBlock(format, tile, size, read);
  expect(read).toEqual(block);
  expect(tile.subarray(0, size).every(byte => byte === 0)).toBe(true);
  expect(tile.subarray(2 * size).every(byte => byte === 0)).toBe(true);
});

const emptySuperBlock = (): SuperBlockCodes => ({
  codes: new Uint8Array(TILE_OUTPUTS * SUPER_BLOCK_INPUTS),
  scales: new Uint8Array(TILE_OUTPUTS * 16),
  factors: new Uint16Array(TILE_OUTPUTS),
  minimumFactors: new Uint16Array(TILE_OUTPUTS),
});

describe.each(['q4-k', 'q5-k', 'q6-k'] as const)('a super-block of %s', format => {
  const { bits, hasMinimum } = WEIGHT_FORMATS[format];

  it('is read as it was written, between others', () => {
    const block = emptySuperBlock();
    for (let i = 0; i < block.codes.length; i++) block.codes[i] = (i * 37 + (i >> 5)) % 2 ** bits;
    for (let i = 0; i < block.scales.length; i++) block.scales[i] = i * 73 + 5;
    for (let i = 0; i < TILE_OUTPUTS; i++) {
      block.factors[i] = 0x1234 + 777 * i;
      block.minimumFactors[i] = hasMinimum ? 0x9876 + 555 * i : 0;
    }
    const size = superBlockBytes(format);
    const tile = new Uint8Array(3 * size);
    packSuperBlock(format, block, tile, size);
    const read = emptySuperBlock();
    read.minimumFactors.fill(1);
    unpackSuperBlock(format, tile, size, read);
    expect(read).toEqual(block);
    expect(tile.subarray(0, size).every(byte => byte === 0)).toBe(true);
    expect(tile.subarray(2 * size).every(byte => byte === 0)).toBe(true);
  });

  it('takes an eighth of a bit more for each weight than in GGUF, or with 6 bits as much', () => {
    const bitsPerWeight = { 'q4-k': 4.5 + 1 / 8, 'q5-k': 5.5 + 1 / 8, 'q6-k': 6.5625 };
    expect(tileBytes(format, 1024)).toBe((bitsPerWeight[format] / 8) * TILE_OUTPUTS * 1024);
  });
});
