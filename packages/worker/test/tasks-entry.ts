// Main module of a worker thread for tests: each task says how it ends.

import { workerData } from 'node:worker_threads';
import { serveTasks } from '../src/serve-tasks.ts';

export type Task = 'answer' | 'refuse' | 'throw' | 'hang' | 'fill memory' | { readonly double: number };

class Refusal extends Error {
  readonly code = 'refused';
}

if (workerData === 'never starts') throw new Error('The module throws.');

serveTasks((task: Task) => {
  if (typeof task === 'object') return task.double * 2;
  switch (task) {
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
