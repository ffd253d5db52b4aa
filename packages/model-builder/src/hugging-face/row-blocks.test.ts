import { expect, it } from 'vitest';
import type { CodeRows } from '../stored-codes.ts';
import type { CheckpointTensor } from './checkpoint-tensor.ts';
import { rowBlocks } from './row-blocks.ts';

const [ROWS, WIDTH] = [6, 32];

/** Row n has the value n, and n as its codes, scales and minimums. */
const tensor: CheckpointTensor = {
  name: 'matrix',
  shape: [ROWS, WIDTH],
  async readFloats(from, target) {
    for (const i of target.keys()) target[i] = Math.floor((from + i) / WIDTH);
  },
  quantised: {
    type: 'Q4_1',
    codes: {
      format: 'q4-min',
      async readRows(first, count): Promise<CodeRows> {
        const rows = Array.from({ length: count }, (_, i) => first + i);
        return {
          rowCount: count,
          width: WIDTH,
          codes: Uint8Array.from(rows.flatMap(row => Array<number>(WIDTH).fill(row))),
          scales: Uint16Array.from(rows),
          minimums: Uint16Array.from(rows),
        };
      },
    },
  },
};

const blocks = [
  { first: 4, count: 2 },
  { first: 0, count: 1 },
  { first: 2, count: 2 },
];
const ORDER = [4, 5, 0, 2, 3];

it('rows stand in the order of the blocks, read whole or in pieces', async () => {
  const { shape, readFloats } = rowBlocks(tensor, blocks);
  expect(shape).toEqual([5, WIDTH]);
  for (let first = 0; first < 5; first++)
    for (let count = 1; first + count <= 5; count++) {
      const target = new Float32Array(count * WIDTH);
      await readFloats(first * WIDTH, target);
      const rows = Array.from({ length: count }, (_, i) => target[i * WIDTH]);
      expect(rows).toEqual(ORDER.slice(first, first + count));
    }
});

it('codes, scales and minimums go with their rows', async () => {
  const { quantised } = rowBlocks(tensor, blocks);
  const { codes, scales, minimums, rowCount } = await quantised!.codes!.readRows(1, 3);
  expect(rowCount).toBe(3);
  expect(Array.from({ length: 3 }, (_, i) => codes[i * WIDTH + 5])).toEqual([5, 0, 2]);
  expect([...scales]).toEqual([5, 0, 2]);
  expect([...minimums]).toEqual([5, 0, 2]);
});
