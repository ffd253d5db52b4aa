import { describe, expect, it } from 'vitest';
import type { RunnerRow } from '../model-runner.ts';
import { leadingDecodes } from './slots-calls.ts';

const decode = (slot: number, computedLength: number): RunnerRow => ({
  slot,
  computedLength,
  tokenIds: Int32Array.of(1),
  logitsCount: 1,
});

describe('the leading decodes of a step', () => {
  it.each<[string, RunnerRow[], number, number, number]>([
    ['slots from 0 on', [decode(0, 4), decode(1, 9), decode(2, 6)], 0, 3, 10],
    ['slots up to a gap', [decode(0, 4), decode(2, 9)], 0, 1, 5],
    ['any slot, alone', [decode(3, 7), decode(4, 9)], 3, 1, 8],
    ['rows up to a chunk', [decode(0, 4), { ...decode(1, 9), tokenIds: Int32Array.of(1, 2) }], 0, 1, 5],
    ['rows up to one without logits', [decode(0, 4), { ...decode(1, 9), logitsCount: 0 }], 0, 1, 5],
    ['none of a chunk', [{ ...decode(2, 0), tokenIds: Int32Array.of(1, 2) }], 2, 0, 0],
    ['none of no rows', [], 0, 0, 0],
  ])('are %s', (_, rows, firstSlot, rowCount, longest) => {
    expect(leadingDecodes(rows)).toEqual({ firstSlot, rowCount, longest });
  });
});
