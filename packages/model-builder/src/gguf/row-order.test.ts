import { describe, expect, it } from 'vitest';
import { headsAround, rowInFile } from './row-order.ts';

/**
 * Rows of a checkpoint in the order of the file: as convert_hf_to_gguf.py has it, `[heads, 2, half]` becomes
 * `[heads, half, 2]`.
 */
function converted(headCount: number, headSize: number): number[] {
  const half = headSize / 2;
  const rows: number[] = [];
  for (let head = 0; head < headCount; head++)
    for (let i = 0; i < half; i++)
      for (let part = 0; part < 2; part++) rows.push(head * headSize + part * half + i);
  return rows;
}

describe('the row of the file', () => {
  it.each([
    [1, 2],
    [3, 8],
    [9, 64],
  ])('undoes the conversion of %d heads of %d rows', (headCount, headSize) => {
    const file = converted(headCount, headSize);
    for (let row = 0; row < headCount * headSize; row++) expect(file[rowInFile(row, headSize)]).toBe(row);
  });
});

it('takes whole heads around any rows', () => {
  expect(headsAround(0, 1, 16)).toEqual({ begin: 0, count: 16 });
  expect(headsAround(15, 2, 16)).toEqual({ begin: 0, count: 32 });
  expect(headsAround(16, 16, 16)).toEqual({ begin: 16, count: 16 });
});
