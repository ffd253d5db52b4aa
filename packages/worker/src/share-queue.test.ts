import { expect, it } from 'vitest';
import { ShareQueue } from './share-queue.ts';

function queueOf(...items: readonly (readonly [share: string, item: number])[]): ShareQueue<number> {
  const queue = new ShareQueue<number>();
  for (const [share, item] of items) queue.push(share, item);
  return queue;
}

it('takes turns between shares, in order within one', () => {
  const queue = queueOf(['a', 1], ['a', 2], ['a', 3], ['b', 10], ['b', 11], ['c', 20]);
  expect(queue.drain()).toEqual([1, 10, 20, 2, 11, 3]);
  expect(queue.length).toBe(0);
});

it('a share that comes back goes to the end', () => {
  const queue = queueOf(['a', 1], ['b', 10], ['b', 11]);
  expect(queue.shift()).toBe(1);
  queue.push('a', 2);
  expect(queue.drain()).toEqual([10, 2, 11]);
});

it('passes over shares that are not ready, which keep their turn', () => {
  const queue = queueOf(['a', 1], ['b', 10]);
  expect(queue.shift(share => share !== 'a')).toBe(10);
  expect(queue.shift(() => false)).toBeUndefined();
  expect(queue.shift()).toBe(1);
});

it('removes an item that waits, once', () => {
  const queue = queueOf(['a', 1], ['a', 2]);
  expect(queue.remove('a', 1)).toBe(true);
  expect(queue.remove('a', 1)).toBe(false);
  expect(queue.remove('b', 2)).toBe(false);
  expect([queue.length, queue.countOf('a'), queue.countOf('b')]).toEqual([1, 1, 0]);
  expect(queue.drain()).toEqual([2]);
});
