import { ApiError } from '@ortler/api';
import { createFakeEngine, type FakeEngine } from '@ortler/api/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLoadedModels, type LoadedModels, type LoadedModelsOptions } from './loaded-models.ts';

/** Loads of one key, held until the test lets them end. */
interface Load {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly engine: FakeEngine;
  succeed(): void;
  fail(error: Error): void;
}

let loads: Load[];
let nowMs: number;
let models: LoadedModels;
const failed: string[] = [];
const unloaded: string[] = [];
const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  loads = [];
  nowMs = 0;
  failed.length = 0;
  unloaded.length = 0;
  models = create();
});
afterEach(() => {
  vi.useRealTimers();
});

function create(options: Partial<LoadedModelsOptions> = {}): LoadedModels {
  return createLoadedModels({
    capacity: 2,
    idleMs: 1_000,
    waitMs: 60_000,
    now: () => nowMs,
    onFailed: name => failed.push(name),
    onUnloaded: name => unloaded.push(name),
    ...options,
  });
}

function open(key: string, signal = never, from = models) {
  return from.open(
    {
      key,
      name: key,
      load(signal) {
        const { promise, resolve, reject } = Promise.withResolvers<FakeEngine>();
        const engine = createFakeEngine();
        loads.push({ key, signal, engine, succeed: () => resolve(engine), fail: reject });
        signal.addEventListener('abort', () => reject(signal.reason));
        return promise;
      },
    },
    signal,
  );
}

/** Lets everything happen that waits for nothing from outside. */
const settle = () => new Promise(resolve => setImmediate(resolve));

async function opened(key: string) {
  const lease = open(key);
  await settle();
  loads.at(-1)!.succeed();
  return lease;
}

describe('loading', () => {
  it('happens once for all who ask meanwhile', async () => {
    const leases = [open('a'), open('a'), open('a')];
    await settle();
    expect(loads).toHaveLength(1);
    loads[0]!.succeed();
    for (const lease of leases) expect((await lease).engine).toBe(loads[0]!.engine);
    expect((await open('a')).engine).toBe(loads[0]!.engine);
    expect(loads).toHaveLength(1);
  });

  it('of two models happens at the same time', async () => {
    void open('a');
    void open('b');
    await settle();
    expect(loads.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('that fails is told to all who wait, and tried again after a pause that doubles', async () => {
    const first = [open('a'), open('a')];
    await settle();
    loads[0]!.fail(new Error('no such file: /secret'));
    for (const lease of first)
      await expect(lease).rejects.toMatchObject({
        reason: 'model_unavailable',
        message: 'The model a could not be loaded.',
        retryAfterMs: 1_000,
      });
    expect(failed).toEqual(['a']);
    nowMs = 400;
    await expect(open('a')).rejects.toMatchObject({ retryAfterMs: 600 });
    expect(loads).toHaveLength(1);
    nowMs = 1_000;
    const second = open('a');
    await settle();
    loads[1]!.fail(new Error('again'));
    await expect(second).rejects.toMatchObject({ retryAfterMs: 2_000 });
    nowMs = 3_000;
    expect((await opened('a')).engine).toBe(loads[2]!.engine);
  });

  it('goes on when those who asked have left, and then waits for others until it is idle', async () => {
    const caller = new AbortController();
    const lease = open('a', caller.signal);
    await settle();
    caller.abort();
    await expect(lease).rejects.toMatchObject({ reason: 'aborted' });
    loads[0]!.succeed();
    await settle();
    expect((await open('a')).engine).toBe(loads[0]!.engine);
  });

  it('is waited for up to the limit', async () => {
    const impatient = create({ waitMs: 5 });
    await expect(open('a', never, impatient)).rejects.toMatchObject({
      reason: 'model_unavailable',
      retryAfterMs: 2_000,
    });
    loads[0]!.succeed();
    await settle();
    expect((await open('a', never, impatient)).engine).toBe(loads[0]!.engine);
  });
});

describe('room', () => {
  it('is made by closing what was used least recently', async () => {
    (await opened('a')).release();
    (await opened('b')).release();
    (await open('a')).release();
    await opened('c');
    expect(unloaded).toEqual(['b']);
    expect(models.list().map(({ name }) => name)).toEqual(['a', 'c']);
  });

  it('is waited for while every engine is in use, which no one closes', async () => {
    const a = await opened('a');
    const b = await opened('b');
    const c = open('c');
    await vi.advanceTimersByTimeAsync(10_000);
    await settle();
    expect(loads).toHaveLength(2);
    expect([loads[0]!.engine.closed, loads[1]!.engine.closed]).toEqual([false, false]);
    b.release();
    await settle();
    expect(unloaded).toEqual(['b']);
    loads[2]!.succeed();
    expect((await c).engine).toBe(loads[2]!.engine);
    a.release();
  });

  it('for one request is not made by closing two', async () => {
    const hold = Promise.withResolvers<void>();
    (await opened('a')).release();
    const b = await opened('b');
    vi.spyOn(loads[0]!.engine, 'close').mockReturnValue(hold.promise);
    const c = open('c');
    await settle();
    b.release();
    await settle();
    expect(loads[1]!.engine.closed).toBe(false);
    hold.resolve();
    await settle();
    expect(loads.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    void c;
  });

  it('is never exceeded, whatever the order of requests', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'a', 'c', 'b', 'e', 'd'];
    const done = keys.map(async key => {
      const lease = await open(key);
      await settle();
      expect(models.list().length).toBeLessThanOrEqual(2);
      lease.release();
    });
    for (let i = 0; i < 50; i++) {
      for (const load of loads) load.succeed();
      expect(loads.filter(({ engine }) => !engine.closed).length).toBeLessThanOrEqual(2);
      await settle();
    }
    await Promise.all(done);
  });
});

describe('an engine', () => {
  it('is closed when idle, and loaded again when asked for', async () => {
    const lease = await opened('a');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(loads[0]!.engine.closed).toBe(false);
    lease.release();
    lease.release();
    await vi.advanceTimersByTimeAsync(999);
    expect(loads[0]!.engine.closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(loads[0]!.engine.closed).toBe(true);
    expect((await opened('a')).engine).toBe(loads[1]!.engine);
  });

  it('is given back by a caller that is gone', async () => {
    (await opened('a')).release();
    const caller = new AbortController();
    await open('a', caller.signal);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(loads[0]!.engine.closed).toBe(false);
    caller.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(loads[0]!.engine.closed).toBe(true);
  });

  it('that is asked for while it closes is loaded again afterwards', async () => {
    const hold = Promise.withResolvers<void>();
    (await opened('a')).release();
    vi.spyOn(loads[0]!.engine, 'close').mockReturnValue(hold.promise);
    await vi.advanceTimersByTimeAsync(1_000);
    const again = open('a');
    await settle();
    expect(loads).toHaveLength(1);
    hold.resolve();
    await settle();
    loads[1]!.succeed();
    expect((await again).engine).toBe(loads[1]!.engine);
  });

  it('whose process is gone for good is replaced', async () => {
    const lease = await opened('a');
    Object.assign(lease.engine.health, { state: 'failed' });
    const again = open('a');
    await settle();
    expect(loads).toHaveLength(2);
    loads[1]!.succeed();
    expect((await again).engine).toBe(loads[1]!.engine);
    lease.release();
    expect(models.list()).toHaveLength(1);
  });

  it('that is dropped answers those who use it and then closes', async () => {
    const lease = await opened('a');
    models.drop(['a']);
    await settle();
    expect(loads[0]!.engine.closed).toBe(false);
    lease.release();
    await settle();
    expect(loads[0]!.engine.closed).toBe(true);
  });

  it('that is dropped while it loads is not waited for', async () => {
    const lease = open('a');
    await settle();
    models.drop(['a']);
    await expect(lease).rejects.toMatchObject({ reason: 'model_unavailable' });
    expect(loads[0]!.signal.aborted).toBe(true);
    expect(failed).toEqual([]);
  });
});

it('closes everything and takes no more requests at the end', async () => {
  await opened('a');
  const b = open('b');
  await settle();
  const closed = models.close();
  await expect(b).rejects.toBeInstanceOf(ApiError);
  await closed;
  expect(loads[0]!.engine.closed).toBe(true);
  await expect(open('c')).rejects.toMatchObject({ message: 'The server is stopping.' });
});
