// The search against its published steps, written out without any of its short cuts: every step is taken, every list
// is kept whole.

import fc from 'fast-check';
import { IS_FULL_RUN, runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { readTokenLogprobs } from '../../testing/read-token-logprobs.ts';
import { scriptedLogits } from '../../testing/scripted-model.ts';
import { BeamSearch, type BeamSearchOptions, stepsOf } from './beam-search.ts';

const EOS = 2;

/** A case: the options and a model, whose opinion depends on every token so far. */
interface Case extends Omit<BeamSearchOptions, 'eosTokenId'> {
  readonly vocabSize: number;
  /** Added to the end-of-sequence token's logit. */
  readonly eosLift: number;
}

const cases: fc.Arbitrary<Case> = fc.record({
  promptTokenIds: fc
    .array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 6 })
    .map(ids => Int32Array.from(ids)),
  width: fc.integer({ min: 1, max: 5 }),
  lengthPenalty: fc.constantFrom(1, 1, 0, 0.5, 2, -0.7),
  maxTokens: fc.integer({ min: 1, max: 9 }),
  ignoreEos: fc.constantFrom(false, false, true),
  keepsEos: fc.boolean(),
  vocabSize: fc.integer({ min: 6, max: 14 }),
  eosLift: fc.constantFrom(0, 1, 2, 4),
});

function logitsAfter(tokenIds: readonly number[], { vocabSize, eosLift }: Case): Float32Array {
  const logits = scriptedLogits(tokenIds, vocabSize, { peak: 0 });
  logits[EOS]! += eosLift;
  return logits;
}

/** The candidates after one beam. */
const look = (tokenIds: Int32Array, one: Case) =>
  readTokenLogprobs(logitsAfter([...tokenIds], one), 0, 2 * one.width);

/**
 * Log probabilities of all tokens, rounded like those that the search gets: two beams may be closer than the last bit of a
 * float32, and a sum of our own would then put them in another order.
 */
function logprobsById(logits: Float32Array): ReadonlyMap<number, number> {
  const { topTokenIds, topLogprobs } = readTokenLogprobs(logits, 0, logits.length);
  return new Map([...topTokenIds].map((id, rank) => [id, topLogprobs[rank]!]));
}

interface Answer {
  readonly tokenIds: readonly number[];
  readonly reason: string;
  readonly score: number;
}

function reference(one: Case): readonly Answer[] {
  const { width, maxTokens, ignoreEos, keepsEos, lengthPenalty } = one;
  let live = [{ tokenIds: [...one.promptTokenIds], sum: 0 }];
  const finished: { tokenIds: number[]; sum: number; reason: string }[] = [];
  for (let step = 0; step < maxTokens; step++) {
    const next: typeof live = [];
    for (const { tokenIds, sum } of live) {
      const logits = logitsAfter(tokenIds, one);
      const logprobs = logprobsById(logits);
      const best = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]! || a - b);
      for (const id of best.slice(0, 2 * width)) {
        const newSum = sum + logprobs.get(id)!;
        if (id !== EOS || ignoreEos) next.push({ tokenIds: [...tokenIds, id], sum: newSum });
        else
          finished.push({ tokenIds: keepsEos ? [...tokenIds, id] : tokenIds, sum: newSum, reason: 'stop' });
      }
    }
    live = next.sort((a, b) => b.sum - a.sum).slice(0, width);
  }
  for (const beam of live) finished.push({ ...beam, reason: 'length' });
  return finished
    .map(({ tokenIds, sum, reason }) => {
      const length = tokenIds.length - (tokenIds.at(-1) === EOS ? 1 : 0);
      return { tokenIds, reason, score: sum / Math.max(1, length) ** lengthPenalty };
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, width);
}

function search(one: Case): { readonly answers: readonly Answer[]; readonly stepCount: number } {
  const beams = new BeamSearch({ ...one, eosTokenId: EOS });
  let stepCount = 0;
  while (!beams.isDone) {
    beams.advance(beams.liveBeams.map(({ tokenIds }) => look(tokenIds, one)));
    stepCount++;
  }
  const answers = beams.answers();
  for (const beam of answers) {
    const generated = [...beam.tokenIds.subarray(one.promptTokenIds.length)];
    expect(stepsOf(beam).map(({ tokenId }) => tokenId)).toEqual(generated);
  }
  return {
    answers: answers.map(({ tokenIds, reason, score }) => ({ tokenIds: [...tokenIds], reason, score })),
    stepCount,
  };
}

describe('BeamSearch', () => {
  it('gives the answers of the published steps, in their order, with their ends and scores', () => {
    let early = 0;
    fc.assert(
      fc.property(cases, one => {
        const expected = reference(one);
        const { answers, stepCount } = search(one);
        expect(answers.map(({ tokenIds, reason }) => ({ tokenIds, reason }))).toEqual(
          expected.map(({ tokenIds, reason }) => ({ tokenIds, reason })),
        );
        for (const [index, { score }] of answers.entries()) {
          expect(score).toBeCloseTo(expected[index]!.score, 5);
        }
        if (stepCount < one.maxTokens) early++;
      }),
      { numRuns: runs({ daily: 60, full: 300 }) },
    );
    // The short cut must have been taken, or nothing was proved about it; a few cases may miss it.
    if (IS_FULL_RUN) expect(early).toBeGreaterThan(5);
  });

  it('ends a search of unlimited length once no beam can win any more', () => {
    const one: Case = {
      promptTokenIds: Int32Array.of(1),
      width: 2,
      lengthPenalty: 0,
      maxTokens: 1_000_000,
      ignoreEos: false,
      keepsEos: false,
      vocabSize: 6,
      eosLift: 3,
    };
    expect(search(one).stepCount).toBeLessThan(100);
  });

  it('gives what there is when the vocabulary has fewer tokens than beams', () => {
    const one: Case = {
      promptTokenIds: Int32Array.of(1),
      width: 5,
      lengthPenalty: 1,
      maxTokens: 1,
      ignoreEos: false,
      keepsEos: true,
      vocabSize: 3,
      eosLift: 0,
    };
    expect(search(one).answers).toHaveLength(3);
  });
});
