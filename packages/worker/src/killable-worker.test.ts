import { afterEach, describe, expect, it } from 'vitest';
import type { Task } from '../test/tasks-entry.ts';
import { entryModule } from './entry-module.ts';
import { KillableWorker, type KillableWorkerOptions } from './killable-worker.ts';

const workers: KillableWorker<Task, unknown>[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map(worker => worker.close()));
});

function start(options: Partial<KillableWorkerOptions> = {}): KillableWorker<Task, unknown> {
  const worker = new KillableWorker<Task, unknown>({
    entry: entryModule('../test/tasks-entry', import.meta.url),
    timeLimitMs: 30_000,
    startLimitMs: 30_000,
    memoryLimitMb: 64,
    queueLimit: 10,
    ...options,
  });
  workers.push(worker);
  return worker;
}

describe('a killable worker', () => {
  it('answers tasks in the order in which they came', async () => {
    const worker = start();
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3].map(async double => {
        expect(await worker.run({ double })).toBe(2 * double);
        order.push(double);
      }),
    );
    expect(order).toEqual([1, 2, 3]);
  });

  it('moves an answer of numbers, instead of copying it', async () => {
    const worker = start();
    expect(await worker.run({ ones: 3 })).toEqual(Int32Array.of(1, 1, 1));
    expect(await worker.run('count ones')).toBe(0);
  });

  it('copies an answer that is a part of an array, which the thread keeps', async () => {
    const worker = start();
    expect(await worker.run({ ones: 3, of: 5 })).toEqual(Int32Array.of(1, 1, 1));
    expect(await worker.run('count ones')).toBe(5);
  });

  it('takes turns between shares, each with a queue of its own', async () => {
    const worker = start({ queueLimitPerShare: 3 });
    const order: string[] = [];
    const run = (share: string, name: string) =>
      worker.run('answer', undefined, share).then(() => order.push(name));
    const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map(name => run(name[0]!, name));
    await expect(run('a', 'a5')).rejects.toMatchObject({ code: 'queue_full' });
    await Promise.all(all);
    expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it('refuses tasks while the system gives no thread, and runs them again once it does', async () => {
    const { url, execArgv } = entryModule('../test/tasks-entry', import.meta.url);
    // With an option of a process Node refuses to make the thread, as it does where the system has no more of them.
    const given = ['--title=none'];
    const worker = start({ entry: { url, execArgv: given } });
    const refused = { name: 'WorkerError', code: 'start_failed' };
    const all = [worker.run('answer'), worker.run('answer')];
    for (const task of all) await expect(task).rejects.toMatchObject(refused);
    given.splice(0, 1, ...execArgv);
    expect(await worker.run('answer')).toBe('answer');
  });

  it('has no time limit where that is infinite', async () => {
    const worker = start({ timeLimitMs: Infinity, startLimitMs: Infinity });
    expect(await worker.run('answer')).toBe('answer');
  });

  it('passes on a refusal with its code, and goes on', async () => {
    const worker = start();
    await expect(worker.run('refuse')).rejects.toMatchObject({
      name: 'WorkerError',
      code: 'task_failed',
      taskCode: 'refused',
      message: 'The task is refused.',
    });
    expect(await worker.run('answer')).toBe('answer');
  });

  it('terminates a task that exceeds its time limit, and runs the next one in a new thread', async () => {
    const worker = start({ timeLimitMs: 100 });
    const hanging = worker.run('hang');
    const next = worker.run('answer');
    await expect(hanging).rejects.toMatchObject({ code: 'timeout' });
    expect(await next).toBe('answer');
  });

  it('takes an answer that came while the event loop was too busy to read it', async () => {
    const worker = start({ timeLimitMs: 200 });
    await worker.run('answer');
    const ended = new Int32Array(new SharedArrayBuffer(4));
    const answer = worker.run({ ended });
    // The thread's message that it has begun is read, so its time runs.
    await new Promise(resolve => setTimeout(resolve, 50));
    // Timers come next after immediates.
    await new Promise(resolve => setImmediate(resolve));
    Atomics.wait(ended, 0, 0);
    const endMs = performance.now() + 300;
    while (performance.now() < endMs);
    expect(await answer).toBe('answer');
  });

  it('survives a task that exceeds the memory limit', async () => {
    const worker = start({ memoryLimitMb: 32 });
    await expect(worker.run('fill memory')).rejects.toMatchObject({ code: 'crashed' });
    expect(await worker.run('answer')).toBe('answer');
  });

  it('says nothing of an error that is no refusal', async () => {
    const failure = await start()
      .run('throw')
      .catch((error: Error) => error);
    expect(failure).toMatchObject({ code: 'crashed' });
    expect(String(failure)).not.toContain('secret');
  });

  it('fails a task whose thread does not start', async () => {
    await expect(start({ workerData: 'never starts' }).run('answer')).rejects.toMatchObject({
      code: 'start_failed',
    });
  });

  it('keeps the reason of a thread that does not start, such as a module that a bundler left out', async () => {
    const entry = entryModule('../test/left-out-entry', import.meta.url);
    await expect(start({ entry }).run('answer')).rejects.toMatchObject({
      code: 'start_failed',
      cause: expect.objectContaining({ message: expect.stringContaining('left-out-entry') }),
    });
  });

  it('refuses tasks beyond the queue limit', async () => {
    const worker = start({ queueLimit: 1 });
    const running = worker.run('answer');
    const waiting = worker.run('answer');
    await expect(worker.run('answer')).rejects.toMatchObject({ code: 'queue_full' });
    expect(await Promise.all([running, waiting])).toEqual(['answer', 'answer']);
  });

  it('drops a waiting task when its signal fires, and lets a running one end', async () => {
    const worker = start();
    const abort = new AbortController();
    const running = worker.run('answer', abort.signal);
    const waiting = worker.run('answer', abort.signal);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    expect(await running).toBe('answer');
  });

  it('does not begin a task whose caller has left before', async () => {
    await expect(start().run('hang', AbortSignal.abort())).rejects.toMatchObject({ code: 'aborted' });
  });

  it('terminates a running task whose caller has left, long before its time limit', async () => {
    const worker = start({ timeLimitMs: 600_000 });
    await worker.run('answer');
    const abort = new AbortController();
    const hanging = worker.run('hang', abort.signal);
    const next = worker.run('answer');
    abort.abort();
    await expect(hanging).rejects.toMatchObject({ code: 'aborted' });
    expect(await next).toBe('answer');
  });

  it('refuses an input that cannot be cloned, and goes on', async () => {
    const worker = start();
    const input = { double: 1, callback: () => 0 };
    await expect(worker.run(input)).rejects.toMatchObject({ code: 'not_cloneable' });
    expect(await worker.run('answer')).toBe('answer');
  });

  it('rejects running, waiting and later tasks when it is closed', async () => {
    const worker = start();
    const open = [worker.run('hang'), worker.run('answer')];
    const settled = Promise.allSettled(open);
    await worker.close();
    for (const each of [...(await settled), ...(await Promise.allSettled([worker.run('answer')]))])
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'closed' } });
  });
});

describe('an entry module', () => {
  it('is TypeScript beside TypeScript, and JavaScript beside JavaScript', () => {
    expect(entryModule('./entry', 'file:///app/src/main.ts')).toEqual({
      url: new URL('file:///app/src/entry.ts'),
      execArgv: ['--conditions=@ortler/source'],
    });
    expect(entryModule('./entry', 'file:///app/dist/main.js')).toEqual({
      url: new URL('file:///app/dist/entry.js'),
      execArgv: [],
    });
  });
});
