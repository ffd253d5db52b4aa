import { expect, it } from 'vitest';
import { FairQueue, type FairQueueLimits } from './fair-queue.ts';

const LIMITS: FairQueueLimits = {
  running: 2,
  runningPerShare: 1,
  waitingPerShare: 3,
  unreadPerShare: 2,
  unread: 3,
};
const signal = new AbortController().signal;
const settled = () => new Promise(resolve => setImmediate(resolve));

/** Work that ends when it is told to; `order` has the names of what began. */
function createWork() {
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    order.push(name);
    const { promise, resolve } = Promise.withResolvers<string>();
    ends.set(name, () => resolve(name));
    return promise;
  };
  return { order, work, end: (name: string) => ends.get(name)!() };
}

it('runs at most so many at once, and takes turns between shares', async () => {
  const queue = new FairQueue('tests', LIMITS);
  const { order, work, end } = createWork();
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map(name => queue.run({ share: name[0]!, signal }, work(name)));
  await settled();
  expect(order).toEqual(['a1', 'b1']);
  end('b1');
  await settled();
  expect(order).toEqual(['a1', 'b1', 'c1']);
  for (const name of ['a1', 'c1', 'a2', 'a3']) {
    end(name);
    await settled();
  }
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
  expect(queue.counts).toEqual({ running: 0, waiting: 0, unread: 0 });
});

it('refuses what one share queues past its limit, with a pause, and nothing of others', async () => {
  const queue = new FairQueue('tests', LIMITS);
  const { work, order } = createWork();
  for (let count = 0; count < 4; count++) void queue.run({ share: 'a', signal }, work('a'));
  const refused = queue.run({ share: 'a', signal }, work('a'));
  await expect(refused).rejects.toMatchObject({ reason: 'overloaded' });
  const { retryAfterMs } = (await refused.catch(error => error)) as { retryAfterMs: number };
  expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
  expect(retryAfterMs).toBeLessThan(2_000);
  void queue.run({ share: 'b', signal }, work('b'));
  await settled();
  expect(order).toEqual(['a', 'b']);
});

it('drops the waiting work of a caller who left', async () => {
  const queue = new FairQueue('tests', LIMITS);
  const { order, work, end } = createWork();
  void queue.run({ share: 'a', signal }, work('first'));
  const leaving = new AbortController();
  const left = queue.run({ share: 'a', signal: leaving.signal }, work('left'));
  void queue.run({ share: 'a', signal }, work('next'));
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  end('first');
  await settled();
  expect(order).toEqual(['first', 'next']);
});

it('goes on after work that fails', async () => {
  const queue = new FairQueue('tests', LIMITS);
  await expect(queue.run({ share: 'a', signal }, () => Promise.reject(new Error('no')))).rejects.toThrow(
    'no',
  );
  expect(await queue.run({ share: 'a', signal }, async () => 1)).toBe(1);
});

it('starts no more work of a share whose answers are not read, until one is', async () => {
  const queue = new FairQueue('tests', LIMITS);
  const replyEnds: (() => void)[] = [];
  const unread = { share: 'a', signal, onReplyEnd: (end: () => void) => void replyEnds.push(end) };
  for (let count = 0; count < 2; count++) await queue.run(unread, async () => count);
  let isDone = false;
  const third = queue.run(unread, async () => {
    isDone = true;
  });
  expect(await queue.run({ share: 'b', signal }, async () => 'b')).toBe('b');
  expect(isDone).toBe(false);
  replyEnds[0]!();
  await third;
  expect(queue.counts).toEqual({ running: 0, waiting: 0, unread: 2 });
});
