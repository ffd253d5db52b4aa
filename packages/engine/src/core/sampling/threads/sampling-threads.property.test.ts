// Rows sampled by several threads against rows sampled by one: the same bits, whichever thread takes which row.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { caseRow, caseStep, EDIT_KINDS, ROW_KINDS } from '../../../../test/sampling-cases.ts';
import { NEUTRAL_SAMPLING } from '../../../request/sampling-params.ts';
import { allocateRows } from '../../row-memory/row-memory.ts';
import { Sampler } from '../sampler.ts';
import type { RowJob } from './row-job.ts';
import { SamplingThreads } from './sampling-threads.ts';

/** Whole blocks, so that rows are read in place; `sampling-threads.test.ts` has rows that are copied. */
const VOCAB_SIZE = 512;
const MAX_ROWS = 40;

const cases = fc.record({
  kind: fc.constantFrom(...ROW_KINDS),
  seed: fc.nat({ max: 100_000 }),
  params: fc.record({
    temperature: fc.constantFrom(0, 0.01, 0.7, 1, 2),
    topP: fc.constantFrom(1, 1, 0.95, 0.5),
    topK: fc.constantFrom(0, 0, 1, 20),
    minP: fc.constantFrom(0, 0, 0.05),
  }),
  edits: fc.subarray([...EDIT_KINDS], { maxLength: 2 }),
  topLogprobCount: fc.constantFrom(undefined, undefined, 0, 5, 64, 65),
});

/** A sampler that counts what it is asked. */
class CountingSampler extends Sampler {
  count = 0;

  override sample(...parameters: Parameters<Sampler['sample']>): ReturnType<Sampler['sample']> {
    this.count++;
    return super.sample(...parameters);
  }

  override readLogprobs(
    ...parameters: Parameters<Sampler['readLogprobs']>
  ): ReturnType<Sampler['readLogprobs']> {
    this.count++;
    return super.readLogprobs(...parameters);
  }
}

const logits = allocateRows(MAX_ROWS * VOCAB_SIZE);
const threads = new SamplingThreads({ threadCount: 2, minTokenCount: 0 });
const alone = new Sampler(VOCAB_SIZE);
const drawJob: RowJob = {
  kind: 'draw',
  row: 0,
  randomKey: { low: 1, high: 2 },
  position: 3,
  topCount: undefined,
  isEdited: false,
  params: NEUTRAL_SAMPLING,
};

/** Others have that time to take jobs alone. Unit: milliseconds. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
const waitForOthers = (): void => block(100);

/** All rows are copies of one. Gives what the threads said and how much of it this one did. */
function answer(jobs: readonly RowJob[], row: Float32Array) {
  for (let index = 0; index < MAX_ROWS; index++) logits.set(row, index * VOCAB_SIZE);
  const own = new CountingSampler(VOCAB_SIZE);
  return { answers: threads.answer(own, logits, jobs, waitForOthers), ownCount: own.count };
}

beforeAll(async () => {
  threads.answer(alone, logits, [drawJob, drawJob], () => {});
  // Threads start while this one does something else.
  await vi.waitFor(
    () => expect(answer([drawJob, drawJob], new Float32Array(VOCAB_SIZE)).ownCount).toBe(0),
    20_000,
  );
}, 30_000);
afterAll(() => threads.dispose());

describe('SamplingThreads', () => {
  it('gives each row the bits that the sampler alone gives it', () => {
    let [otherCount, sharedCount] = [0, 0];
    fc.assert(
      fc.property(fc.array(cases, { minLength: 2, maxLength: 16 }), ones => {
        const steps = ones.map(one => caseStep(one, VOCAB_SIZE));
        const expected = ones.map((one, index) => {
          const token = alone.sample(caseRow(one, VOCAB_SIZE), steps[index]!);
          return { kind: 'draw', token };
        });
        const jobs: RowJob[] = [];
        const isShared = ones.map((one, row) => {
          const start = row * VOCAB_SIZE;
          logits.set(caseRow(one, VOCAB_SIZE), start);
          const step = steps[row]!;
          if (!Sampler.editInPlace(logits.subarray(start, start + VOCAB_SIZE), step)) return false;
          const { params, randomKey, position, topLogprobCount: topCount, processors } = step;
          const isEdited = processors.length > 0;
          jobs.push({ kind: 'draw', row, params, randomKey, position, topCount, isEdited });
          return true;
        });
        const own = new CountingSampler(VOCAB_SIZE);
        const answers = threads.answer(own, logits, jobs, () => block(2));
        expect(answers).toEqual(expected.filter((_, index) => isShared[index]));
        otherCount += jobs.length - own.count;
        sharedCount += jobs.length;
      }),
      { numRuns: 60 },
    );
    expect(sharedCount).toBeGreaterThan(100);
    expect(otherCount).toBeGreaterThan(0);
  });

  it('leaves a row as it is where its sequence is needed to sample it', () => {
    fc.assert(
      fc.property(cases, one => {
        const row = caseRow(one, VOCAB_SIZE);
        const isShared = Sampler.editInPlace(row, caseStep(one, VOCAB_SIZE));
        if (!isShared) expect(row).toEqual(caseRow(one, VOCAB_SIZE));
      }),
    );
  });

  it('reads log probabilities of more rows than it has places for', () => {
    const row = caseRow({ kind: 'model', seed: 1, params: {}, edits: [], topLogprobCount: 5 }, VOCAB_SIZE);
    const jobs = Array.from({ length: 600 }, (_, index): RowJob => {
      return { kind: 'read', row: index % MAX_ROWS, tokenId: index % VOCAB_SIZE, topCount: index % 60 };
    });
    const { answers, ownCount } = answer(jobs, row);
    expect(ownCount).toBeLessThan(600);
    expect(answers).toEqual(
      jobs.map(({ topCount }, index) => ({
        kind: 'read',
        logprobs: alone.readLogprobs(row, index % VOCAB_SIZE, topCount!),
      })),
    );
  });

  it('says of each row that cannot be sampled why', () => {
    const row = new Float32Array(VOCAB_SIZE).fill(-Infinity);
    const { answers } = answer([drawJob, { ...drawJob, isEdited: true }], row);
    expect(answers[0]).toMatchObject({ message: expect.stringContaining('not numbers') });
    expect(answers[1]).toMatchObject({ code: 'invalid_request' });
  });

  it('samples alone the rows with too many log probabilities for shared answers, and steps with too little to weigh', () => {
    const row = caseRow({ kind: 'flat', seed: 1, params: {}, edits: [], topLogprobCount: 5 }, VOCAB_SIZE);
    const many: RowJob = { kind: 'read', row: 0, tokenId: 1, topCount: 65 };
    expect(answer([many, many], row).ownCount).toBe(2);
    expect(answer([drawJob], row).ownCount).toBe(1);
    const greedy = { ...drawJob, params: { ...NEUTRAL_SAMPLING, temperature: 0 } };
    expect(answer([greedy, greedy, greedy, drawJob], row).ownCount).toBe(4);
    const own = new CountingSampler(VOCAB_SIZE);
    // Others do not see this memory.
    threads.answer(own, logits.slice(), [drawJob, drawJob], waitForOthers);
    expect(own.count).toBe(2);
  });
});
