import { expect, it } from 'vitest';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { rowChunks } from './row-chunks.ts';

/** A matrix whose elements count up from `first`. */
function counting(rows: number, width: number, first: number): CheckpointTensor {
  return {
    name: 'counting',
    shape: [rows, width],
    async readFloats(from, target) {
      for (let i = 0; i < target.length; i++) target[i] = first + from + i;
    },
  };
}

it('gives the rows of all matrices in order, in whole rows', async () => {
  const width = 300_000;
  const pieces: number[] = [];
  const values: number[] = [];
  for await (const chunk of rowChunks([counting(5, width, 0), counting(2, width, 5 * width)], width)) {
    pieces.push(chunk.length / width);
    for (let row = 0; row < chunk.length; row += width) values.push(chunk[row]!, chunk[row + width - 1]!);
  }
  expect(pieces).toEqual([3, 2, 2]);
  expect(values).toEqual([0, 1, 2, 3, 4, 5, 6].flatMap(row => [row * width, (row + 1) * width - 1]));
});

it('uses one buffer of four megabytes at most, and no more than the matrices need', async () => {
  const buffersOf = async (rows: number, width: number) => {
    const buffers = new Set<ArrayBuffer>();
    for await (const chunk of rowChunks([counting(rows, width, 0)], width)) buffers.add(chunk.buffer);
    return [...buffers].map(buffer => buffer.byteLength);
  };
  expect(await buffersOf(6000, 1024)).toEqual([4 << 20]);
  expect(await buffersOf(3, 1024)).toEqual([3 * 1024 * 4]);
});

it('reads a row that is longer than a piece in one go', async () => {
  const width = (1 << 20) + 1;
  const lengths: number[] = [];
  for await (const chunk of rowChunks([counting(2, width, 0)], width)) lengths.push(chunk.length);
  expect(lengths).toEqual([width, width]);
});
