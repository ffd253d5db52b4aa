import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { threadFailure } from './thread-failure.ts';

it('says what a bundler must do where the module of the thread is missing', async () => {
  const [cause] = await once(new Worker(new URL('file:///bundle/build-worker-entry.js')), 'error');
  expect(threadFailure(cause).message).toMatch(/build-worker-entry\.js.*bundler.*external/s);
});

it('tells any other error as it is', () => {
  expect(threadFailure(new Error('out of memory')).message).toBe('The build failed: out of memory');
});
