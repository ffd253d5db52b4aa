// Main module of a worker thread for tests: each task says how it ends.

import { workerData } from 'node:worker_threads';
import { serveTasks } from '../src/serve-tasks.ts';

export type Task =
  | 'answer'
  | 'refuse'
  | 'throw'
  | 'hang'
  | 'fill memory'
  | { readonly double: number }
  /** Answers with so many ones. `of`: how many the thread makes; the answer is the first of them. Default: as many. */
  | { readonly ones: number; readonly of?: number }
  /** Answers with the number of ones that the thread still has. */
  | 'count ones'
  /** Takes a moment, then sets the number to 1 and answers. */
  | { readonly ended: Int32Array<SharedArrayBuffer> };

class Refusal extends Error {
  readonly code = 'refused';
}

if (workerData === 'never starts') throw new Error('The module throws.');

function answerLater(ended: Int32Array<SharedArrayBuffer>): string {
  Atomics.wait(ended, 0, 0, 100);
  Atomics.store(ended, 0, 1);
  Atomics.notify(ended, 0);
  return 'answer';
}

let ones = new Int32Array();

serveTasks((task: Task) => {
  if (typeof task === 'object') {
    if ('double' in task) return task.double * 2;
    if ('ended' in task) return answerLater(task.ended);
    ones = new Int32Array(task.of ?? task.ones).fill(1);
    return ones.subarray(0, task.ones);
  }
  switch (task) {
    case 'count ones':
      return ones.length;
    case 'answer':
      return 'answer';
    case 'refuse':
      throw new Refusal('The task is refused.');
    case 'throw':
      throw new Error('secret');
    case 'hang':
      for (;;);
    case 'fill memory': {
      const kept: number[][] = [];
      for (;;) kept.push(new Array(10_000).fill(Math.random()));
    }
  }
}, Refusal);
