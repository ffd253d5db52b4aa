import { describe, expect, it } from 'vitest';
import { DEVICE_DRAFTS } from './device-draft-policy.ts';
import { CPU_DRAFTS } from './draft-policy.ts';

const COUNTS = [1, 2, 4, 8, 16, 32, 64];

function offers(...lengths: readonly number[]) {
  return lengths.map(length => ({ rate: 0.9, length }));
}

describe('drafts on a device', () => {
  it('are longer the higher the acceptance rate is', () => {
    for (const count of COUNTS) {
      const lengths = Array.from({ length: 101 }, (_, percent) =>
        DEVICE_DRAFTS.chooseLength(percent / 100, count),
      );
      expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
      expect(lengths[0]).toBe(0);
      expect(lengths.at(-1)).toBe(15);
    }
  });

  it('are shorter the more sequences share the call, because every token of it is worth more', () => {
    for (const rate of [0.3, 0.5, 0.8, 0.9]) {
      const lengths = COUNTS.map(count => DEVICE_DRAFTS.chooseLength(rate, count));
      expect(lengths).toEqual(lengths.toSorted((a, b) => b - a));
    }
    expect(COUNTS.map(count => DEVICE_DRAFTS.chooseLength(0.8, count))).toEqual([15, 7, 7, 3, 3, 1, 0]);
  });

  it('are made where a CPU would batch instead', () => {
    expect(CPU_DRAFTS.chooseLength(0.95, 8)).toBe(0);
    expect(DEVICE_DRAFTS.chooseLength(0.95, 8)).toBeGreaterThan(0);
  });

  it('are tried with one token where little is known, as long as no other sequence waits for it', () => {
    expect(DEVICE_DRAFTS.chooseLength(0.1, 1)).toBe(1);
    expect(DEVICE_DRAFTS.chooseLength(0.1, 2)).toBe(0);
  });

  it('delay a sequence that has none by a quarter at most', () => {
    for (const count of COUNTS.slice(1)) {
      const lengths = DEVICE_DRAFTS.settle(offers(0, ...Array<number>(count - 1).fill(15)));
      expect(lengths[0]).toBe(0);
      const drafted = lengths.reduce((sum, length) => sum + length, 0);
      expect(drafted).toBeGreaterThan(0);
      expect(drafted / 16).toBeLessThanOrEqual(0.25 * (1 + (count - 1) / 16));
    }
  });

  it('share the draft limit of a step when all sequences draft', () => {
    expect(DEVICE_DRAFTS.settle(offers(15, 7))).toEqual([15, 7]);
    expect(DEVICE_DRAFTS.settle(offers(15, 15, 15, 15, 15, 15, 15, 15))).toEqual(Array(8).fill(8));
    expect(DEVICE_DRAFTS.settle(offers(0, 0))).toEqual([0, 0]);
    expect(DEVICE_DRAFTS.settle([])).toEqual([]);
  });
});
