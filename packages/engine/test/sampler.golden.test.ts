// The sampler against the logits processors of transformers. More rows: test/golden/check-sampler-rows.ts.

import { describe, expect, test } from 'vitest';
import { Sampler } from '../src/core/sampling/sampler.ts';
import { readGolden } from './golden-file.ts';
import { goldenIds, goldenLogits, goldenStep, keptIds, type SamplerGolden } from './sampler-golden.ts';

const golden = readGolden<SamplerGolden>('sampler.json', ['torch', 'transformers']);

/** By degrees of freedom: 99.99 % of right samples stay below. Draws are fixed, so this passes always or never. */
const CHI_SQUARE_LIMITS = [0, 15.2, 18.5, 21.2, 23.6, 25.8, 27.9, 29.9];

describe('the sampler and transformers', () => {
  test('keep the same tokens in every row', () => {
    expect(golden.rows.length).toBeGreaterThanOrEqual(400);
    for (const [index, row] of golden.rows.entries()) {
      expect(keptIds(row), `row ${index}`).toEqual(goldenIds(row));
    }
  });

  test('agree on how often each token is drawn', () => {
    const drawn = golden.rows.filter(row => row.probabilities !== undefined);
    expect(drawn.length).toBeGreaterThanOrEqual(16);
    const drawCount = 5_000;
    for (const [index, row] of drawn.entries()) {
      const sampler = new Sampler(row.size);
      const counts = new Array<number>(row.size).fill(0);
      const step = goldenStep(row);
      const logits = goldenLogits(row);
      for (let position = 0; position < drawCount; position++) {
        counts[sampler.sample(logits.slice(), { ...step, position }).tokenId]!++;
      }
      expect(chiSquareExcess(counts, row.probabilities!), `row ${index}`).toBeLessThan(0);
    }
  });
});

/** Chi-square over its limit. Tokens that are expected less than five times count together. */
function chiSquareExcess(counts: readonly number[], probabilities: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const groups: { expected: number; found: number }[] = [];
  const rare = { expected: 0, found: 0 };
  for (const [id, probability] of probabilities.entries()) {
    const expected = probability * total;
    // A token of no probability at all must not come up.
    if (expected === 0 && counts[id]! > 0) return Infinity;
    if (expected >= 5) groups.push({ expected, found: counts[id]! });
    else {
      rare.expected += expected;
      rare.found += counts[id]!;
    }
  }
  if (rare.expected >= 5) groups.push(rare);
  else if (rare.found > 30) return Infinity;
  const sum = groups.reduce((rest, { expected, found }) => rest + (found - expected) ** 2 / expected, 0);
  return sum - (CHI_SQUARE_LIMITS[groups.length - 1]! || 5);
}
