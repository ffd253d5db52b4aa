import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { StreamTask } from '../test/streams-entry.ts';
import { entryModule } from './entry-module.ts';
import { StreamWorker } from './stream-worker.ts';

const workers: StreamWorker<StreamTask, unknown>[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map(worker => worker.close()));
});

function start(): StreamWorker<StreamTask, unknown> {
  const worker = new StreamWorker<StreamTask, unknown>(entryModule('../test/streams-entry', import.meta.url));
  workers.push(worker);
  return worker;
}

async function* stream(...parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

/** Ends by itself only when its reader stops. */
async function* endless(seen: { count: number; isEnded: boolean }): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      seen.count++;
      yield new Uint8Array(64 * 1024).fill(1);
      await delay(0);
    }
  } finally {
    seen.isEnded = true;
  }
}

describe('a stream worker', () => {
  it('reads many streams at once', async () => {
    const worker = start();
    const sums = await Promise.all(
      [1, 2, 3].map(value => worker.run('sum', stream(Uint8Array.of(value), Uint8Array.of(10)))),
    );
    expect(sums).toEqual([11, 12, 13]);
  });

  it('leaves the buffers of its caller as they are', async () => {
    const whole = Uint8Array.of(1, 2, 3, 4);
    expect(await start().run('sum', stream(whole.subarray(1, 3)))).toBe(5);
    expect(whole).toEqual(Uint8Array.of(1, 2, 3, 4));
  });

  it('takes the memory of large parts that have a buffer of their own', async () => {
    const part = new Uint8Array(64 * 1024).fill(1);
    expect(await start().run('sum', stream(part))).toBe(64 * 1024);
    expect(part.buffer.detached).toBe(true);
  });

  it('joins small parts, of which a stream may have as many as bytes', async () => {
    const bytes = Array.from({ length: 20_000 }, (_, index) => Uint8Array.of(index % 7));
    const worker = start();
    expect(await worker.run('count', stream(...bytes))).toBe(2);
    expect(await worker.run('sum', stream(...bytes))).toBe(bytes.reduce((sum, [byte]) => sum + byte!, 0));
  });

  it('moves results instead of copying them', async () => {
    expect(await start().run('move', stream())).toEqual(Uint8Array.of(1, 2, 3));
  });

  it('stops reading behind a result that comes early', async () => {
    const seen = { count: 0, isEnded: false };
    expect(await start().run('first', endless(seen))).toBe(64 * 1024);
    await expect.poll(() => seen.isEnded).toBe(true);
  });

  it('is not further ahead of the thread than it may be', async () => {
    const seen = { count: 0, isEnded: false };
    const leaving = new AbortController();
    const waiting = start().run('wait', endless(seen), leaving.signal);
    await expect.poll(() => seen.count).toBe(4);
    await delay(50);
    expect(seen.count).toBe(4);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await expect.poll(() => seen.isEnded).toBe(true);
  });

  it('passes on errors of the thread with their fields, and goes on', async () => {
    const worker = start();
    const refused = await worker.run('refuse', stream(Uint8Array.of(1))).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    expect(refused).toMatchObject({ message: 'refused', reason: 'too odd' });
    expect(await worker.run('sum', stream(Uint8Array.of(4)))).toBe(4);
  });

  it('passes on errors of the stream', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Uint8Array.of(1);
      throw new Error('broken off');
    }
    await expect(start().run('sum', broken())).rejects.toThrow('broken off');
  });

  it('fails the streams of a thread that ends, and starts another', async () => {
    const worker = start();
    const waiting = worker.run('wait', stream());
    await expect(worker.run('exit', stream(Uint8Array.of(1)))).rejects.toMatchObject({ code: 'crashed' });
    await expect(waiting).rejects.toMatchObject({ code: 'crashed' });
    expect(await worker.run('sum', stream(Uint8Array.of(4)))).toBe(4);
  });

  it('fails its streams when it is closed', async () => {
    const worker = start();
    const waiting = worker.run('wait', stream());
    await worker.close();
    await expect(waiting).rejects.toMatchObject({ code: 'closed' });
    await expect(worker.run('sum', stream())).rejects.toMatchObject({ code: 'closed' });
  });

  it('does not begin for a caller who has left', async () => {
    const left = AbortSignal.abort(new Error('left'));
    await expect(start().run('sum', stream(), left)).rejects.toThrow('left');
  });
});
