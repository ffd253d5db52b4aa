import { ApiError } from '@ortler/api';
import { describe, expect, vi } from 'vitest';
import { createLoadedModelsByHand, it, settle } from '../../test/loaded-models-by-hand.ts';

describe('loading', () => {
  it('happens once for concurrent requests', async ({ test }) => {
    const leases = [test.open('a'), test.open('a'), test.open('a')];
    await settle();
    expect(test.loads).toHaveLength(1);
    test.loads[0]!.succeed();
    for (const lease of leases) expect((await lease).engine).toBe(test.loads[0]!.engine);
    expect((await test.open('a')).engine).toBe(test.loads[0]!.engine);
    expect(test.loads).toHaveLength(1);
  });

  it('of two models happens at the same time', async ({ test }) => {
    void test.open('a');
    void test.open('b');
    await settle();
    expect(test.loads.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('that fails is reported to all waiting requests, and retried after a pause that doubles', async ({
    test,
  }) => {
    const first = [test.open('a'), test.open('a')];
    await settle();
    test.loads[0]!.fail(new Error('no such file: /secret'));
    for (const lease of first)
      await expect(lease).rejects.toMatchObject({
        reason: 'model_unavailable',
        message: 'The model a could not be loaded.',
        retryAfterMs: 1_000,
      });
    expect(test.failed).toEqual(['a']);
    test.nowMs = 400;
    await expect(test.open('a')).rejects.toMatchObject({ retryAfterMs: 600 });
    expect(test.loads).toHaveLength(1);
    test.nowMs = 1_000;
    const second = test.open('a');
    await settle();
    test.loads[1]!.fail(new Error('again'));
    await expect(second).rejects.toMatchObject({ retryAfterMs: 2_000 });
    test.nowMs = 3_000;
    expect((await test.opened('a')).engine).toBe(test.loads[2]!.engine);
  });

  it('continues when its requests were aborted, and then keeps the engine until it is idle', async ({
    test,
  }) => {
    const caller = new AbortController();
    const lease = test.open('a', caller.signal);
    await settle();
    caller.abort();
    await expect(lease).rejects.toMatchObject({ reason: 'aborted' });
    test.loads[0]!.succeed();
    await settle();
    expect((await test.open('a')).engine).toBe(test.loads[0]!.engine);
  });

  it('reports its progress until it has ended', async ({ test }) => {
    const lease = test.open('a');
    expect(test.models.listLoading()).toEqual([{ name: 'a', detail: 'waiting' }]);
    await settle();
    test.loads[0]!.report('building, 40%');
    expect(test.models.listLoading()).toEqual([{ name: 'a', detail: 'building, 40%' }]);
    test.loads[0]!.succeed();
    await lease;
    expect(test.models.listLoading()).toEqual([]);
  });

  it('is waited for up to the limit', async () => {
    const impatient = createLoadedModelsByHand({ waitMs: 5 });
    await expect(impatient.open('a')).rejects.toMatchObject({
      reason: 'model_unavailable',
      retryAfterMs: 2_000,
    });
    impatient.loads[0]!.succeed();
    await settle();
    expect((await impatient.open('a')).engine).toBe(impatient.loads[0]!.engine);
  });
});

describe('capacity', () => {
  it('is kept by evicting the least recently used engine', async ({ test }) => {
    (await test.opened('a')).release();
    (await test.opened('b')).release();
    (await test.open('a')).release();
    await test.opened('c');
    expect(test.unloaded).toEqual(['b']);
    expect(test.models.list().map(({ name }) => name)).toEqual(['a', 'c']);
  });

  it('makes requests wait while every engine is in use, and evicts none of them', async ({ test }) => {
    const a = await test.opened('a');
    const b = await test.opened('b');
    const c = test.open('c');
    await vi.advanceTimersByTimeAsync(10_000);
    await settle();
    expect(test.loads).toHaveLength(2);
    expect([test.loads[0]!.engine.closed, test.loads[1]!.engine.closed]).toEqual([false, false]);
    b.release();
    await settle();
    expect(test.unloaded).toEqual(['b']);
    test.loads[2]!.succeed();
    expect((await c).engine).toBe(test.loads[2]!.engine);
    a.release();
  });

  it('for one request evicts one engine, not two', async ({ test }) => {
    const hold = Promise.withResolvers<void>();
    (await test.opened('a')).release();
    const b = await test.opened('b');
    vi.spyOn(test.loads[0]!.engine, 'close').mockReturnValue(hold.promise);
    const c = test.open('c');
    await settle();
    b.release();
    await settle();
    expect(test.loads[1]!.engine.closed).toBe(false);
    hold.resolve();
    await settle();
    expect(test.loads.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    void c;
  });

  it('is never exceeded, whatever the order of requests', async ({ test }) => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'a', 'c', 'b', 'e', 'd'];
    const done = keys.map(async key => {
      const lease = await test.open(key);
      await settle();
      expect(test.models.list().length).toBeLessThanOrEqual(2);
      lease.release();
    });
    for (let i = 0; i < 50; i++) {
      for (const load of test.loads) load.succeed();
      expect(test.loads.filter(({ engine }) => !engine.closed).length).toBeLessThanOrEqual(2);
      await settle();
    }
    await Promise.all(done);
  });
});

it('closes everything and refuses requests after close', async ({ test }) => {
  await test.opened('a');
  const b = test.open('b');
  await settle();
  const closed = test.models.close();
  await expect(b).rejects.toBeInstanceOf(ApiError);
  await closed;
  expect(test.loads[0]!.engine.closed).toBe(true);
  await expect(test.open('c')).rejects.toMatchObject({ message: 'The server is stopping.' });
});
