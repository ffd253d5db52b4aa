// The sampler against one that sorts the whole row and adds up every weight: the same token for the same seed, whatever
// the settings, with either implementation of the loops. Weights are whole numbers, so there is no border to leave out.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { NEUTRAL_SAMPLING, type SamplingParams } from '../../request/sampling-params.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import { readTokenLogprobs } from '../../testing/read-token-logprobs.ts';
import { allocateRows } from '../row-memory/row-memory.ts';
import { counterKey, uniformAt } from './counter-random.ts';
import { PlainKernels } from './kernels/plain-kernels.ts';
import { BLOCK_LENGTH, BUCKET_COUNT, SAMPLE_LENGTH } from './kernels/row-kernels.ts';
import { exactWeightBits, tokenWeight, weightScale } from './kernels/token-weight.ts';
import type { LogitsProcessor } from './logits-processor.ts';
import { allowTokens, banEnds } from './processors/banned-tokens.ts';
import { biasTokens } from './processors/logit-bias.ts';
import { penalizeRepetition } from './processors/penalties.ts';
import { Sampler, type SamplingStep } from './sampler.ts';

interface Case {
  readonly row: Float32Array;
  readonly params: SamplingParams;
  readonly processors: readonly LogitsProcessor[];
  readonly seed: bigint;
  readonly topLogprobCount: number | undefined;
}

/**
 * Several blocks of a peaked row, a flat one, one of ties, one with gaps, one from end to end of float32, and one whose
 * sample is like none of its other tokens.
 */
const rows = fc
  .tuple(
    fc.nat(),
    fc.constantFrom(1, 2, 63, 64, 65, 200, 1000, 1024, 3000, 3008),
    fc.constantFrom('peaked', 'flat', 'ties', 'gaps', 'extreme', 'unlike its sample'),
  )
  .map(([seed, size, kind]) => {
    const key = counterKey(BigInt(seed));
    const row = new Float32Array(size);
    for (let id = 0; id < size; id++) {
      const uniform = uniformAt(key, id);
      if (kind === 'peaked') row[id] = 6 * uniform + (uniform > 0.97 ? 300 * (uniform - 0.97) : 0);
      else if (kind === 'flat') row[id] = uniform * 1e-3;
      else if (kind === 'ties') row[id] = Math.floor(uniform * 5);
      else if (kind === 'gaps') row[id] = uniform < 0.7 ? -Infinity : uniform * 10;
      else if (kind === 'extreme') row[id] = (uniform - 0.5) * 2 ** 128;
      else row[id] = id % BLOCK_LENGTH < SAMPLE_LENGTH ? uniform - 6 : 3 * uniform;
    }
    return row;
  });

const cases: fc.Arbitrary<Case> = fc
  .record({
    row: rows,
    temperature: fc.constantFrom(0, 0.01, 0.3, 1, 1.7, 2),
    topK: fc.constantFrom(0, 0, 1, 2, 5, 50, 400, 1000, 5000),
    topP: fc.constantFrom(1, 1, 0.999999, 0.95, 0.5, 1e-9),
    minP: fc.constantFrom(0, 0, 1e-6, 0.05, 1),
    edits: fc.subarray(['allow', 'ban', 'bias', 'penalty'] as const),
    seed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    topLogprobCount: fc.constantFrom(undefined, 0, 1, 5, 20),
  })
  .map(({ row, edits, seed, topLogprobCount, ...params }) => {
    const inside = (ids: readonly number[]): number[] => [...new Set(ids.map(id => id % row.length))];
    const processors = {
      allow: allowTokens(inside([0, 3, 5, 64, 130, 131, 132, 700])),
      ban: banEnds(inside([1, 5, 66, 131]), 1),
      bias: biasTokens(inside([2, 5, 130]).map((tokenId, i) => ({ tokenId, bias: 3 * i - 2 }))),
      penalty: penalizeRepetition(Int32Array.from(inside([0, 2, 700])), 1.3),
    };
    return {
      row,
      params: { ...NEUTRAL_SAMPLING, ...params },
      processors: edits.map(edit => processors[edit]),
      seed,
      topLogprobCount,
    };
  });

function toStep({ params, processors, seed, topLogprobCount }: Case, position: number): SamplingStep {
  const output = { outputTokenIds: [], tokenCounts: null };
  return { params, processors, output, randomKey: counterKey(seed), position, topLogprobCount };
}

/** Null where the edits leave no token. */
function referenceToken({ row, params, processors, seed }: Case, position: number): number | null {
  const { temperature, minP, topK, topP } = params;
  const logits = row.slice();
  for (const processor of processors) processor.edit(logits, { outputTokenIds: [], tokenCounts: null });
  const ranked = Array.from(logits.keys())
    .filter(id => logits[id]! > -Infinity)
    .sort((a, b) => logits[b]! - logits[a]! || a - b);
  if (ranked.length === 0) return null;
  const largest = logits[ranked[0]!]!;
  if (temperature === 0) return ranked[0]!;
  const scale = weightScale(largest, temperature, exactWeightBits(row.length));
  const weightOf = (id: number): number => tokenWeight(logits[id]!, scale);
  const sum = (ids: readonly number[]): number => ids.reduce((total, id) => total + weightOf(id), 0);

  const limit = minP === 0 ? -Infinity : Math.fround(largest + temperature * Math.log(minP));
  let kept = ranked.filter(id => logits[id]! >= limit);
  const worst = topK === 0 ? undefined : kept[topK - 1];
  if (worst !== undefined) kept = kept.filter(id => logits[id]! >= logits[worst]!);
  if (topP < 1) {
    const target = topP * sum(kept);
    let weightSum = 0;
    kept = kept.filter(id => {
      const isNeeded = weightSum < target;
      weightSum += weightOf(id);
      return isNeeded;
    });
  }
  kept.sort((a, b) => a - b);
  let left = Math.floor(uniformAt(counterKey(seed), position) * sum(kept));
  for (const id of kept) {
    left -= weightOf(id);
    if (left < 0) return id;
  }
  throw new Error('The reference drew nothing.');
}

/** Says of the buckets of a row what is not so. */
class WrongBuckets extends PlainKernels {
  readonly #weightSums: readonly number[];

  constructor(vocabSize: number, weightSums: readonly number[]) {
    super(vocabSize);
    this.#weightSums = weightSums;
  }

  override spread(): void {
    const weightSums = this.#weightSums;
    for (let bucket = 0; bucket < BUCKET_COUNT; bucket++)
      this.bucketWeightSums[bucket] = weightSums[Math.floor((bucket * weightSums.length) / BUCKET_COUNT)]!;
  }
}

/** The row as a step has it: in memory that kernels read in place, between rows that they must not read. */
function amidOthers(row: Float32Array): Float32Array {
  const rows = allocateRows(3 * row.length).fill(Number.NaN);
  rows.set(row, row.length);
  return rows.subarray(row.length, 2 * row.length);
}

describe('Sampler', () => {
  it('draws the token of the reference and reports the same log probabilities, with either kernels and in place', () => {
    fc.assert(
      fc.property(cases, one => {
        const { row, topLogprobCount } = one;
        const samplers = [
          { sampler: new Sampler(row.length), logits: row },
          { sampler: new Sampler(row.length), logits: amidOthers(row) },
          { sampler: new Sampler(row.length, new PlainKernels(row.length)), logits: row },
        ];
        for (let position = 0; position < 4; position++) {
          const expected = referenceToken(one, position);
          for (const { sampler, logits } of samplers) {
            const sample = (): { tokenId: number; logprobs?: TokenLogprobs } =>
              sampler.sample(logits, toStep(one, position));
            if (expected === null) {
              expect(sample).toThrow();
              continue;
            }
            const { tokenId, logprobs } = sample();
            expect(tokenId).toBe(expected);
            expect(logprobs).toEqual(
              topLogprobCount === undefined ? undefined : readTokenLogprobs(row, tokenId, topLogprobCount),
            );
          }
        }
      }),
      { numRuns: runs({ daily: 75, full: 300 }) },
    );
  });

  it('draws the same token whatever its estimates are', () => {
    const wrongWeightSums = fc.array(fc.constantFrom(0, 1, 2 ** 20, 2 ** 40, 2 ** 60), {
      minLength: 1,
      maxLength: 9,
    });
    const wideCases = fc
      .record({
        one: cases,
        key: fc.nat().map(seed => counterKey(BigInt(seed))),
        width: fc.constantFrom(3, 20),
        topP: fc.constantFrom(0.9999, 0.99, 0.5),
        temperature: fc.constantFrom(1, 2),
      })
      .map(({ one, key, width, topP, temperature }) => ({
        ...one,
        row: Float32Array.from({ length: 2200 }, (_, id) => width * uniformAt(key, id)),
        params: { ...NEUTRAL_SAMPLING, topP, temperature },
        processors: [],
      }));
    fc.assert(
      fc.property(wideCases, wrongWeightSums, (one, weightSums) => {
        const sampler = new Sampler(one.row.length, new WrongBuckets(one.row.length, weightSums));
        expect(sampler.sample(one.row, toStep(one, 0)).tokenId).toBe(referenceToken(one, 0));
      }),
      { numRuns: runs({ daily: 40, full: 200 }) },
    );
  });

  it('leaves the row as it was', () => {
    fc.assert(
      fc.property(cases, one => {
        fc.pre(referenceToken(one, 0) !== null);
        const before = one.row.slice();
        for (const logits of [one.row, amidOthers(one.row)]) {
          new Sampler(one.row.length).sample(logits, toStep(one, 0));
          expect(logits).toEqual(before);
        }
      }),
      { numRuns: 100 },
    );
  });
});
