import { expect, test } from 'vitest';
import {
  BLOCK_INPUTS,
  type BlockCodes,
  blockBytes,
  packBlock,
  type QuantisedFormat,
  TILE_OUTPUTS,
  unpackBlock,
  WEIGHT_FORMATS,
} from './tiles.ts';

const FORMATS = (Object.keys(WEIGHT_FORMATS) as (keyof typeof WEIGHT_FORMATS)[]).filter(
  (format): format is QuantisedFormat => format !== 'f32',
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
