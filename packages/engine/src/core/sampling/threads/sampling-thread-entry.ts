// Main module of a sampling thread: answers jobs of the board until it is closed. Started by `sampling-threads.ts`.

import { workerData } from 'node:worker_threads';
import { openRows } from '../../row-memory/row-memory.ts';
import { Sampler } from '../sampler.ts';
import { JobBoard } from './job-board.ts';
import { answerRowJob } from './row-job.ts';
import type { SamplingThreadData } from './sampling-threads.ts';

const { board: buffer, logits: sharedRows, vocabSize } = workerData as SamplingThreadData;
const board = new JobBoard(buffer);
const logits = openRows(sharedRows);
const sampler = new Sampler(vocabSize);

for (let isOpen = true; isOpen; ) {
  const round = board.round;
  for (let claimed = board.claim(); claimed !== null; claimed = board.claim()) answer(claimed);
  isOpen = board.waitForRound(round);
}

function answer(index: number): void {
  try {
    board.writeAnswer(index, answerRowJob(sampler, logits, board.readJob(index)));
  } catch {
    // The thread that asked tries it itself, and so learns why.
    board.writeAnswer(index, null);
  }
}
