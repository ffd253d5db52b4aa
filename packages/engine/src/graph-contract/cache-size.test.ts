import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REWIND_LENGTH, windowCapacity } from './cache-size.ts';

describe('windowCapacity', () => {
  it('holds the window after the longest row and after a prompt that was left early', () => {
    const lengths = { contextLength: 32_768, longestRow: 256, rewindLength: REWIND_LENGTH };
    expect(windowCapacity(512, lengths)).toBe(1536);
    expect(windowCapacity(513, lengths)).toBe(1536);
    expect(windowCapacity(514, lengths)).toBe(1792);
    expect(windowCapacity(512, { ...lengths, longestRow: 2048 })).toBe(2560);
  });

  it('is undefined where a ring would be no shorter than the context', () => {
    const lengths = { contextLength: 1536, longestRow: 256, rewindLength: REWIND_LENGTH };
    expect(windowCapacity(512, lengths)).toBeUndefined();
    expect(windowCapacity(512, { ...lengths, contextLength: 1537 })).toBe(1536);
  });

  it('is whole pieces of 256 that hold all it must, and no piece more', () => {
    const length = fc.integer({ min: 1, max: 5000 });
    fc.assert(
      fc.property(length, length, length, (window, longestRow, rewindLength) => {
        const capacity = windowCapacity(window, { contextLength: 100_000, longestRow, rewindLength })!;
        const least = window - 1 + Math.max(longestRow, rewindLength);
        expect(capacity % 256).toBe(0);
        expect(capacity).toBeGreaterThanOrEqual(least);
        expect(capacity - 256).toBeLessThan(least);
      }),
    );
  });
});
