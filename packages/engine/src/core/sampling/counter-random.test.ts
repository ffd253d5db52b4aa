import { describe, expect, it } from 'vitest';
import { counterKey, philox4x32, uniformAt } from './counter-random.ts';

describe('philox4x32', () => {
  // Known answers of the Random123 library, kat_vectors, philox4x32 with 10 rounds.
  it.each([
    [
      [0, 0, 0, 0],
      [0, 0],
      [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
    ],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ] as const)('gives the published answer for counter %j and key %j', (counter, [low, high], expected) => {
    expect(philox4x32(counter, { low, high })).toEqual([...expected]);
  });
});

describe('counterKey', () => {
  it('takes every int64 and wraps at its ends, so that a choice index never overflows', () => {
    expect(counterKey(-1n)).toEqual({ low: 0xffffffff, high: 0xffffffff });
    expect(counterKey(2n ** 63n)).toEqual(counterKey(-(2n ** 63n)));
    expect(counterKey(5n + (1n << 32n))).toEqual({ low: 5, high: 1 });
  });
});

describe('uniformAt', () => {
  it('depends on the seed and the position only, and on all of their bits', () => {
    const values = new Set<number>();
    for (const seed of [0n, 1n, 1n << 32n, -1n]) {
      for (const position of [0, 1, 2, 2 ** 31, 2 ** 32, 2 ** 33]) {
        const value = uniformAt(counterKey(seed), position);
        expect(uniformAt(counterKey(seed), position)).toBe(value);
        values.add(value);
      }
    }
    expect(values.size).toBe(24);
  });

  it('is uniform over [0, 1), over positions and over seeds', () => {
    for (const draw of [
      (i: number) => uniformAt(counterKey(42n), i),
      (i: number) => uniformAt(counterKey(BigInt(i)), 0),
    ]) {
      const counts = new Array<number>(64).fill(0);
      for (let i = 0; i < 64_000; i++) counts[Math.floor(draw(i) * 64)]!++;
      const chiSquare = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
      // 63 degrees of freedom: 99.9 % of uniform samples stay below 103.4.
      expect(chiSquare).toBeLessThan(103.4);
    }
  });
});
