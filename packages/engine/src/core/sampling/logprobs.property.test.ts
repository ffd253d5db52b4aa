// Log probabilities against whole sorts and sums written out.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTokenLogprobs } from '../../testing/read-token-logprobs.ts';

/** Rows with ties, wide rows and rows with masked tokens. */
const rows = fc.oneof(
  fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 80 }),
  fc.array(fc.float({ min: -60, max: 60, noNaN: true }), { minLength: 1, maxLength: 80 }),
  fc.array(fc.oneof(fc.constant(-Infinity), fc.integer({ min: -3, max: 3 })), {
    minLength: 1,
    maxLength: 80,
  }),
);

describe('readTokenLogprobs', () => {
  it('equals the sorted log softmax: rank, best tokens by value and then id, fewer where the row is short', () => {
    fc.assert(
      fc.property(rows, fc.nat(), fc.nat({ max: 20 }), (values, pick, topCount) => {
        fc.pre(values.some(value => value > -Infinity));
        const logits = Float32Array.from(values);
        const tokenId = pick % values.length;
        const largest = Math.max(...logits);
        const total = [...logits].reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
        const expected = [...logits].map(logit => logit - largest - Math.log(total));
        const ranked = expected.map((_, id) => id).sort((a, b) => logits[b]! - logits[a]! || a - b);
        const sorted = ranked.map(id => (Number.isFinite(expected[id]!) ? expected[id]! : -Infinity));

        const found = readTokenLogprobs(logits, tokenId, topCount);
        expect(found.tokenId).toBe(tokenId);
        expect([...found.topTokenIds]).toEqual(ranked.slice(0, topCount));
        expect(found.rank).toBe(1 + logits.filter(logit => logit > logits[tokenId]!).length);
        for (const [index, logprob] of found.topLogprobs.entries()) {
          expect(isClose(logprob, sorted[index]!)).toBe(true);
          expect(logprob).toBeLessThanOrEqual(0);
        }
        expect(isClose(found.logprob, expected[tokenId]!)).toBe(true);
        const own = found.topTokenIds.indexOf(tokenId);
        if (own >= 0) expect(found.topLogprobs[own]).toBe(found.logprob);
      }),
      { numRuns: 500 },
    );
  });

  it('refuses a row that is not made of numbers', () => {
    for (const row of [
      [1, Number.NaN],
      [Number.NaN, 1],
      [1, Infinity],
      [-Infinity, -Infinity],
    ]) {
      expect(() => readTokenLogprobs(Float32Array.from(row), 0, 1)).toThrow('not numbers');
    }
  });
});

/** Within the rounding of the result to float32. */
function isClose(found: number, expected: number): boolean {
  return found === expected || Math.abs(found - expected) <= 1e-6 + Math.abs(expected) * 2 ** -23;
}
