// The sampler against the published steps done naively: whole sorts, fresh arrays, every softmax written
// out. Rows on which rounding decides whether a token is kept are left out.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEUTRAL_SAMPLING, type SamplingParams } from '../../request/sampling-params.ts';
import { counterKey } from './counter-random.ts';
import { Sampler, type SamplingStep } from './sampler.ts';

interface Kept {
  readonly id: number;
  readonly probability: number;
}

function softmax(logits: readonly number[]): number[] {
  const largest = Math.max(...logits);
  const weights = logits.map(logit => Math.exp(logit - largest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map(weight => weight / total);
}

/** Tokens that may be drawn and their probabilities, by the steps as the wire format's source lists them. */
function referenceDistribution(
  row: Float32Array,
  params: SamplingParams,
  banned: readonly number[],
): { readonly kept: readonly Kept[]; readonly isOnBorder: boolean } {
  let isOnBorder = false;
  let logits = [...row].map((logit, id) => (banned.includes(id) ? -Infinity : logit));
  logits = logits.map(logit => logit / params.temperature);
  const relative = softmax(logits);
  const largest = Math.max(...relative);
  logits = logits.map((logit, id) => {
    const share = relative[id]! / largest;
    if (params.minP > 0 && params.minP < 1 && Math.abs(share - params.minP) < 1e-9) isOnBorder = true;
    return params.minP > 0 && logit < Math.max(...logits) && share < params.minP ? -Infinity : logit;
  });
  if (params.topK > 0 && params.topK < logits.length) {
    const border = [...logits].sort((a, b) => b - a)[params.topK - 1]!;
    logits = logits.map(logit => (logit < border ? -Infinity : logit));
  }
  if (params.topP < 1) {
    const probabilities = softmax(logits);
    const ascending = logits.map((_, id) => id).sort((a, b) => logits[a]! - logits[b]! || b - a);
    let sum = 0;
    for (const id of ascending.slice(0, -1)) {
      sum += probabilities[id]!;
      if (Math.abs(sum - (1 - params.topP)) < 1e-9) isOnBorder = true;
      if (sum <= 1 - params.topP) logits[id] = -Infinity;
    }
  }
  const kept = softmax(logits)
    .map((probability, id) => ({ id, probability }))
    .filter(({ id }) => logits[id] !== -Infinity);
  return { kept, isOnBorder };
}

const params = fc.record({
  temperature: fc.constantFrom(0.01, 0.3, 1, 1.7),
  topK: fc.constantFrom(0, 1, 2, 5, 30, 1000),
  topP: fc.constantFrom(1, 0.999, 0.9, 0.5, 0.01),
  minP: fc.constantFrom(0, 0.02, 0.3, 1),
  frequencyPenalty: fc.constant(0),
  presencePenalty: fc.constant(0),
  repetitionPenalty: fc.constant(1),
});

/** Numbers apart by at least a step that no rounding inside the sampler can lose. */
function decimals(least: number, most: number, stepsPerUnit: number): fc.Arbitrary<number> {
  return fc
    .integer({ min: least * stepsPerUnit, max: most * stepsPerUnit })
    .map(value => value / stepsPerUnit);
}

const size = { minLength: 1, maxLength: 60 };

/** Rows with many ties, wide rows, rows with masked tokens and nearly flat rows. */
const rows = fc.oneof(
  fc.array(decimals(-4, 4, 2), size),
  fc.array(decimals(-200, 200, 1000), size),
  fc.array(fc.oneof(fc.constant(-Infinity), decimals(-4, 4, 1000)), size),
  fc.array(decimals(0, 0.01, 100_000), size),
);

function step(changes: Partial<SamplingStep> & { readonly seed?: bigint }): SamplingStep {
  const { seed = 1n, ...rest } = changes;
  return { params: NEUTRAL_SAMPLING, randomKey: counterKey(seed), position: 0, bannedTokenIds: [], ...rest };
}

describe('Sampler against the naive reference', () => {
  it('draws only tokens that the reference keeps', () => {
    fc.assert(
      fc.property(rows, params, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (row, settings, seed) => {
        fc.pre(row.some(logit => logit > -Infinity));
        const logits = Float32Array.from(row);
        const { kept, isOnBorder } = referenceDistribution(logits, settings, []);
        fc.pre(!isOnBorder);
        const sampler = new Sampler(row.length);
        for (let position = 0; position < 20; position++) {
          const token = sampler.sample(logits.slice(), step({ params: settings, seed, position }));
          expect(kept.map(({ id }) => id)).toContain(token);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('keeps exactly the reference set: every token of some probability is drawn at some position', () => {
    fc.assert(
      fc.property(rows, params, (row, settings) => {
        fc.pre(row.some(logit => logit > -Infinity));
        const logits = Float32Array.from(row);
        const { kept, isOnBorder } = referenceDistribution(logits, settings, []);
        fc.pre(!isOnBorder);
        const drawn = new Set<number>();
        const sampler = new Sampler(row.length);
        for (let position = 0; position < 1500; position++)
          drawn.add(sampler.sample(logits.slice(), step({ params: settings, position })));
        // A token with probability 2 % is missed 1500 times in a row about once in 10^13.
        const expected = kept.filter(({ probability }) => probability > 0.02).map(({ id }) => id);
        expect([...drawn].filter(id => expected.includes(id)).sort((a, b) => a - b)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('takes the largest logit and the lowest id of equals when greedy', () => {
    fc.assert(
      fc.property(rows, fc.array(fc.nat({ max: 59 }), { maxLength: 3 }), (row, banned) => {
        const allowed = row.map((logit, id) => (banned.includes(id) ? -Infinity : Math.fround(logit)));
        fc.pre(allowed.some(logit => logit > -Infinity));
        const settings = { ...NEUTRAL_SAMPLING, temperature: 0 };
        const token = new Sampler(row.length).sample(
          Float32Array.from(row),
          step({ params: settings, bannedTokenIds: banned }),
        );
        expect(token).toBe(allowed.indexOf(Math.max(...allowed)));
      }),
    );
  });
});
