// The life cycle of one shared engine, inside the pool that loads it again.

import { describe, expect, vi } from 'vitest';
import { it, settle } from '../../test/loaded-models-by-hand.ts';

describe('an engine', () => {
  it('is closed when idle, and loaded again when asked for', async ({ test }) => {
    const lease = await test.opened('a');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(test.loads[0]!.engine.closed).toBe(false);
    lease.release();
    lease.release();
    await vi.advanceTimersByTimeAsync(999);
    expect(test.loads[0]!.engine.closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(test.loads[0]!.engine.closed).toBe(true);
    expect((await test.opened('a')).engine).toBe(test.loads[1]!.engine);
  });

  it('is released by the signal of an aborted request', async ({ test }) => {
    (await test.opened('a')).release();
    const caller = new AbortController();
    await test.open('a', caller.signal);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(test.loads[0]!.engine.closed).toBe(false);
    caller.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(test.loads[0]!.engine.closed).toBe(true);
  });

  it('that is requested while it closes is loaded again afterwards', async ({ test }) => {
    const hold = Promise.withResolvers<void>();
    (await test.opened('a')).release();
    vi.spyOn(test.loads[0]!.engine, 'close').mockReturnValue(hold.promise);
    await vi.advanceTimersByTimeAsync(1_000);
    const again = test.open('a');
    await settle();
    expect(test.loads).toHaveLength(1);
    hold.resolve();
    await settle();
    test.loads[1]!.succeed();
    expect((await again).engine).toBe(test.loads[1]!.engine);
  });

  it('whose process has ended for good is replaced', async ({ test }) => {
    const lease = await test.opened('a');
    Object.assign(lease.engine.health, { state: 'failed' });
    const again = test.open('a');
    await settle();
    expect(test.loads).toHaveLength(2);
    test.loads[1]!.succeed();
    expect((await again).engine).toBe(test.loads[1]!.engine);
    lease.release();
    expect(test.models.list()).toHaveLength(1);
  });

  it('that is dropped closes after its last lease is released', async ({ test }) => {
    const lease = await test.opened('a');
    test.models.drop(['a']);
    await settle();
    expect(test.loads[0]!.engine.closed).toBe(false);
    lease.release();
    await settle();
    expect(test.loads[0]!.engine.closed).toBe(true);
  });

  it('that is dropped while it loads is not waited for', async ({ test }) => {
    const lease = test.open('a');
    await settle();
    test.models.drop(['a']);
    await expect(lease).rejects.toMatchObject({
      reason: 'model_not_found',
      message: 'The model a was deleted while it was being loaded.',
    });
    expect(test.loads[0]!.signal.aborted).toBe(true);
    expect(test.failed).toEqual([]);
  });

  it('that is unloaded while requests wait for it answers them and then closes', async ({ test }) => {
    const leases = [test.open('a'), test.open('a')];
    await settle();
    test.models.unload('a');
    test.loads[0]!.succeed();
    const [first, second] = await Promise.all(leases);
    first!.release();
    await settle();
    expect(test.loads[0]!.engine.closed).toBe(false);
    second!.release();
    await settle();
    expect(test.loads[0]!.engine.closed).toBe(true);
  });

  it('that is unloaded while no request waits for it is not loaded to the end', async ({ test }) => {
    const caller = new AbortController();
    const lease = test.open('a', caller.signal);
    await settle();
    caller.abort();
    await expect(lease).rejects.toMatchObject({ reason: 'aborted' });
    test.models.unload('a');
    expect(test.loads[0]!.signal.aborted).toBe(true);
  });
});
