import { expect, it } from 'vitest';
import { WeightedSemaphore } from './weighted-semaphore.ts';

/** Starts work that ends on demand, and lists what has started. */
function recorder(limit: number) {
  const semaphore = new WeightedSemaphore(limit);
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const runs = new Map<string, Promise<void>>();
  const start = (name: string, weight: number) => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    const run = semaphore.run(weight, () => {
      started.push(name);
      return end.promise;
    });
    runs.set(name, run);
    return run;
  };
  const end = async (name: string) => {
    ends.get(name)!.resolve();
    await runs.get(name);
    await Promise.resolve();
  };
  return { started, start, end, fail: (name: string) => ends.get(name)!.reject(new Error('failed')) };
}

it('runs what fits and starts the first that fits when other work ends', async () => {
  const { started, start, end } = recorder(10);
  for (const [name, weight] of [
    ['a', 6],
    ['b', 4],
    ['c', 7],
    ['d', 3],
  ] as const)
    void start(name, weight);
  expect(started).toEqual(['a', 'b']);
  await end('b');
  expect(started).toEqual(['a', 'b', 'd']);
  await end('a');
  expect(started).toEqual(['a', 'b', 'd', 'c']);
});

it('runs work beyond the limit by itself', async () => {
  const { started, start, end } = recorder(10);
  void start('a', 1);
  void start('huge', 11);
  void start('b', 1);
  expect(started).toEqual(['a', 'b']);
  await end('a');
  await end('b');
  expect(started).toEqual(['a', 'b', 'huge']);
});

it('is free again after a failure, which its caller gets', async () => {
  const { started, start, fail } = recorder(10);
  const failing = start('a', 10);
  void start('b', 10);
  fail('a');
  await expect(failing).rejects.toThrow('failed');
  expect(started).toEqual(['a', 'b']);
});
