import { entryModule } from '@ortler/worker';
import { afterEach, expect, it, vi } from 'vitest';
import { Sampler } from '../sampler.ts';
import { JobBoard } from './job-board.ts';
import type { RowJob } from './row-job.ts';
import { SamplingThreads } from './sampling-threads.ts';

const VOCAB_SIZE = 100;
const sampler = new Sampler(VOCAB_SIZE);
const logits = new Float32Array(new SharedArrayBuffer(4 * VOCAB_SIZE));
const jobs = [1, 2, 3, 4].map((tokenId): RowJob => ({ kind: 'read', row: 0, tokenId, topCount: 1 }));
const expected = [1, 2, 3, 4].map(tokenId => ({
  kind: 'read',
  logprobs: sampler.readLogprobs(logits, tokenId, 1),
}));

let threads: SamplingThreads;
afterEach(() => threads.dispose());

/** Longer than a busy machine keeps this thread from a core. */
const ANSWER_TIMEOUT_MS = 500;

const nothing = (): void => {};

/** How long this thread waits, so that others get on. Unit: milliseconds. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

it('answers itself what a thread took and does not give back, and stops starting such threads', async () => {
  const entry = {
    url: new URL('../../../../test/stuck-sampling-thread.ts', import.meta.url),
    execArgv: ['--conditions=@ortler/source'],
  };
  threads = new SamplingThreads({
    threadCount: 1,
    minTokenCount: 0,
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
    entry,
  });
  const isLost = (): boolean => {
    const startMs = performance.now();
    expect(threads.answer(sampler, logits, jobs, () => block(10))).toEqual(expected);
    return performance.now() - startMs >= ANSWER_TIMEOUT_MS;
  };
  let lostCount = 0;
  const lose = (): void => {
    if (isLost()) lostCount++;
    expect(lostCount).toBe(3);
  };
  // A thread takes part as soon as it has started.
  await vi.waitFor(lose, { timeout: 20_000, interval: 10 });
  for (let round = 0; round < 10; round++) {
    await new Promise(resolve => setTimeout(resolve, 30));
    expect(isLost()).toBe(false);
  }
}, 30_000);

it('does without threads that fail at their start', async () => {
  const url = new URL('data:text/javascript,throw new Error("no thread")');
  threads = new SamplingThreads({ threadCount: 2, minTokenCount: 0, entry: { url, execArgv: [] } });
  for (let round = 0; round < 20; round++) {
    expect(threads.answer(sampler, logits, jobs, nothing)).toEqual(expected);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
});

it('does without threads that the system does not give', () => {
  const { url } = entryModule('./sampling-thread-entry', import.meta.url);
  // With an option of a process Node refuses to make the thread, as it does where the system has no more of them.
  threads = new SamplingThreads({
    threadCount: 2,
    minTokenCount: 0,
    entry: { url, execArgv: ['--title=none'] },
  });
  for (let round = 0; round < 5; round++)
    expect(threads.answer(sampler, logits, jobs, nothing)).toEqual(expected);
});

it('ends its threads, also while they start', async () => {
  threads = new SamplingThreads({ threadCount: 2, minTokenCount: 0 });
  threads.answer(sampler, logits, jobs, nothing);
  await threads.dispose();
  await threads.dispose();
});

it('hands every job out once, whichever thread claims it', () => {
  const board = new JobBoard();
  const other = new JobBoard(board.buffer);
  board.post(jobs, 0);
  const claimed = [board.claim(), other.claim(), other.claim(), board.claim()];
  expect(claimed.toSorted()).toEqual([0, 1, 2, 3]);
  expect([board.claim(), other.claim()]).toEqual([null, null]);
  expect(other.readJob(2)).toEqual(jobs[2]);
});
