import { expect, it } from 'vitest';
import { MIN_BLOCK_LENGTH } from '../../../graph-contract/index.ts';
import { blockLengthOn } from './block-length.ts';

it.each([
  [64, 256],
  [80, 128],
  [128, 128],
  [256, 64],
])(
  'takes blocks for heads of %i on CUDA that FlashAttention reads in place: %i tokens',
  (headSize, length) => {
    expect(blockLengthOn('cuda', headSize)).toBe(length);
  },
);

it.each([64, 256])('takes the shortest blocks over WebGPU, for heads of %i', headSize => {
  expect(blockLengthOn('webgpu', headSize)).toBe(MIN_BLOCK_LENGTH);
});
