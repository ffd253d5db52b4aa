// A sampling thread that takes a job of each round and never answers.

import { workerData } from 'node:worker_threads';
import { JobBoard } from '../src/core/sampling/threads/job-board.ts';
import type { SamplingThreadData } from '../src/core/sampling/threads/sampling-threads.ts';

const board = new JobBoard((workerData as SamplingThreadData).board);
for (let isOpen = true; isOpen; ) {
  const { round } = board;
  board.claim();
  isOpen = board.waitForRound(round);
}
