import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MessageTurns } from './message-turns.ts';

afterEach(() => vi.restoreAllMocks());

/** A clock that handlers set, so that a busy machine changes nothing. */
function createClock() {
  const clock = { nowMs: 0 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  return clock;
}

describe('messages of another thread', () => {
  it('are handled at once, until they have taken a slice of the turn', async () => {
    const clock = createClock();
    const turns = new MessageTurns();
    const handled: string[] = [];
    const handle = (name: string, ms: number) =>
      turns.run(() => {
        clock.nowMs += ms;
        handled.push(name);
      });
    handle('a', 0.9);
    handle('b', 2);
    handle('c', 0);
    handle('d', 0);
    expect(handled).toEqual(['a', 'b']);
    await nextTurn();
    expect(handled).toEqual(['a', 'b', 'c', 'd']);
    // A turn of its own.
    handle('e', 0);
    expect(handled).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('keep their order when one comes while others wait', async () => {
    const clock = createClock();
    const turns = new MessageTurns();
    const handled: string[] = [];
    turns.run(() => {
      clock.nowMs += 2;
    });
    turns.run(() => {
      handled.push('a');
      turns.run(() => handled.push('c'));
    });
    turns.run(() => handled.push('b'));
    while (handled.length < 3) await nextTurn();
    expect(handled).toEqual(['a', 'b', 'c']);
  });

  it('leave turns to others while each answer sends the next question', async () => {
    const worker = new Worker(
      "require('node:worker_threads').parentPort.on('message', message => require('node:worker_threads').parentPort.postMessage(message))",
      { eval: true },
    );
    await once(worker, 'online');
    const turns = new MessageTurns();
    let longestRun = 0;
    const answered = Promise.withResolvers<void>();
    let [run, left] = [0, 60];
    worker.on('message', () =>
      turns.run(() => {
        longestRun = Math.max(longestRun, ++run);
        if (--left === 0) return answered.resolve();
        worker.postMessage('question');
        // The answer is there before this turn ends.
        return busyFor(0.6);
      }),
    );
    const watch = () => {
      run = 0;
      if (left > 0) setImmediate(watch);
    };
    watch();
    worker.postMessage('question');
    await answered.promise;
    await worker.terminate();
    expect(longestRun).toBeLessThanOrEqual(3);
  });
});

function busyFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}
