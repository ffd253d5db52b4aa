import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunnerRow } from '../model-runner.ts';
import { packedShape, paddingLengths, roundedSize, splitRows } from './packed-shape.ts';

function rowOf(length: number, computedLength = 0, logitsCount = 1): RunnerRow {
  return {
    slot: 0,
    blocks: new Int32Array(64),
    tokenIds: new Int32Array(length),
    computedLength,
    logitsCount,
  };
}

const rowLists = fc.array(
  fc.record({ length: fc.integer({ min: 1, max: 600 }), computedLength: fc.nat({ max: 900 }) }),
  { minLength: 1, maxLength: 70 },
);

describe('packedShape', () => {
  it('keeps small decodes as they are', () => {
    const shape = packedShape([rowOf(1, 20), rowOf(1, 5), rowOf(1, 0)], 16);
    expect(shape).toEqual({ tokenCount: 3, batchSize: 3, tableWidth: 2, logitsCount: 4 });
  });

  it('gives each padding token of decodes a row of its own', () => {
    const decodes = Array.from({ length: 17 }, () => rowOf(1, 30));
    const { tokenCount, batchSize } = packedShape(decodes, 16);
    expect([tokenCount, batchSize]).toEqual([18, 18]);
    expect(paddingLengths(tokenCount - 17, batchSize - 17)).toEqual([1]);
  });

  it('has room for the rows and for padding, at most an eighth more of it', () => {
    fc.assert(
      fc.property(rowLists, lists => {
        const rows = lists.map(({ length, computedLength }) => rowOf(length, computedLength));
        const tokens = lists.reduce((sum, { length }) => sum + length, 0);
        const shape = packedShape(rows, 16);
        expect(shape.tokenCount).toBeGreaterThanOrEqual(tokens);
        expect(shape.tokenCount).toBeLessThan(tokens + tokens / 8 + 1);
        const padding = paddingLengths(shape.tokenCount - tokens, shape.batchSize - rows.length);
        expect(padding.reduce((sum, length) => sum + length, tokens)).toBe(shape.tokenCount);
        const longest = Math.max(...padding, ...rows.map(row => row.computedLength + row.tokenIds.length));
        expect(shape.tableWidth * 16).toBeGreaterThanOrEqual(longest);
        expect(shape.logitsCount).toBeGreaterThanOrEqual(rows.length);
      }),
    );
  });
});

describe('roundedSize', () => {
  it('knows few sizes', () => {
    const sizes = new Set(Array.from({ length: 1_024 }, (_, index) => roundedSize(index + 1)));
    expect(sizes.size).toBeLessThanOrEqual(64);
    expect([...sizes].slice(0, 20)).toEqual([...Array.from({ length: 16 }, (_, i) => i + 1), 18, 20, 22, 24]);
  });
});

describe('splitRows', () => {
  const limits = { headCount: 8, kvHeadCount: 2, headSize: 64, elementBytes: 2 };

  it('makes one call where no limit is known or none is reached', () => {
    const rows = [rowOf(500), rowOf(1, 500)];
    expect(splitRows(rows, limits)).toEqual([rows]);
    expect(splitRows(rows, { ...limits, maxTensorBytes: 2 ** 30 })).toEqual([rows]);
  });

  it('keeps the order of rows and what the operator lays out, padded, within a tensor', () => {
    const maxTensorBytes = 4 * 2 ** 20;
    fc.assert(
      fc.property(rowLists, lists => {
        const rows = lists.map(({ length, computedLength }) => rowOf(length, computedLength));
        const calls = splitRows(rows, { ...limits, maxTensorBytes });
        expect(calls.flat()).toEqual(rows);
        for (const call of calls) {
          if (call.length === 1) continue;
          const { batchSize } = packedShape(call, 16);
          const query = Math.max(...call.map(row => row.tokenIds.length));
          const whole = Math.max(...call.map(row => row.computedLength + row.tokenIds.length));
          expect(batchSize * query * 8 * 64 * 2).toBeLessThanOrEqual(maxTensorBytes);
          expect(batchSize * whole * 2 * 64 * 2).toBeLessThanOrEqual(maxTensorBytes);
        }
      }),
    );
  });
});
