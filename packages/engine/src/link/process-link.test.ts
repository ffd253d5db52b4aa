import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { entryModule } from '@ortler/worker';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { coreLinkConformance, echoRequest, RecordingListener } from '../../test/core-link-conformance.ts';
import { HANG_TOKEN, SCRIPTED_CORE_OPTIONS, SCRIPTED_EOS_TOKEN } from '../testing/scripted-core.ts';
import type { CoreLink } from './core-link.ts';
import { createProcessLink } from './process-link.ts';

const entry = entryModule('../testing/scripted-process-entry', import.meta.url);
const ignore = (): void => undefined;

coreLinkConformance('process', (options, policy) =>
  createProcessLink(options, { entry, policy, onOutput: ignore }),
);

describe('process link', () => {
  const open: CoreLink[] = [];
  const start = async (stepTimeoutMs?: number) => {
    const pids: number[] = [];
    const lines: string[] = [];
    const link = createProcessLink(SCRIPTED_CORE_OPTIONS, {
      entry,
      policy: { firstDelayMs: 20, longestDelayMs: 40, healthyMs: 60_000 },
      stepTimeoutMs,
      onOutput: line => lines.push(line),
      onSpawn: pid => pids.push(pid),
    });
    open.push(link);
    const listener = new RecordingListener();
    await link.start(listener);
    return { link, listener, pids, lines };
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map(link => link.close()));
  });

  test('fails open requests when the process is killed, and serves again after the restart', async () => {
    const { link, listener, pids } = await start();
    link.submit(echoRequest(1, [11], { eosTokenIds: [], maxTokens: 200 }));
    await listener.until(() => listener.outcome(1).tokenIds.length > 0);
    process.kill(pids[0]!, 'SIGKILL');
    await listener.until(() => listener.downErrors.length > 0);
    expect(listener.downErrors[0]).toMatchObject({
      code: 'engine_failed',
      message: expect.stringContaining('SIGKILL'),
    });
    expect(link.state).toBe('restarting');
    await listener.until(() => listener.readyFacts.length === 2);
    expect(pids[1]).not.toBe(pids[0]);
    link.submit(echoRequest(2, [12, 13]));
    await listener.until(() => listener.outcome(2).finish !== undefined);
    expect(listener.outcome(2).tokenIds).toEqual([12, 13, SCRIPTED_EOS_TOKEN]);
  });

  test('ends a process that hangs in a step, and serves again after the restart', async () => {
    const { link, listener, pids } = await start(2_000);
    link.submit(echoRequest(1, [HANG_TOKEN, 11]));
    await listener.until(() => listener.readyFacts.length === 2);
    expect(listener.downErrors.map(({ message }) => message)).toEqual([
      "The model's process was ended: a step took longer than 2 s.",
    ]);
    expect(isAlive(pids[0]!)).toBe(false);
    link.submit(echoRequest(2, [12, 13]));
    await listener.until(() => listener.outcome(2).finish !== undefined);
    expect(listener.outcome(2).tokenIds).toEqual([12, 13, SCRIPTED_EOS_TOKEN]);
  });

  test('leaves no process behind when it is closed', async () => {
    const { link, pids } = await start();
    await link.close();
    expect(isAlive(pids[0]!)).toBe(false);
  });

  test('loads the model although the callback for its process throws', async () => {
    const queue = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => undefined);
    const link = createProcessLink(SCRIPTED_CORE_OPTIONS, {
      entry,
      onOutput: ignore,
      onSpawn: () => {
        throw new Error('The host has a fault.');
      },
    });
    open.push(link);
    await link.start(new RecordingListener());
    expect(link.state).toBe('ready');
    // The fault becomes an uncaught exception.
    expect(queue.mock.calls.map(([task]) => task)).toEqual([expect.any(Function)]);
    expect(queue.mock.calls[0]![0]).toThrow('The host has a fault.');
    queue.mockRestore();
  });

  test('hands the output of the process to the callback, line by line', async () => {
    const { lines, listener, link } = await start();
    link.submit(echoRequest(1, [11]));
    await listener.until(() => listener.outcome(1).finish !== undefined);
    while (lines.length === 0) await sleep(5);
    expect(lines[0]).toBe('scripted model process started');
  });
});

test('a model process ends when its parent is killed', async () => {
  const { fork } = await import('node:child_process');
  const host = entryModule('../testing/process-host-entry', import.meta.url);
  const parent = fork(host.url.pathname, [], {
    execArgv: [...host.execArgv],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const pid = await new Promise<number>(resolve =>
    parent.once('message', message => resolve(message as number)),
  );
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  while (isAlive(pid)) await sleep(5);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Fills the table of open files, kills the model's process, and frees the table again: one line of states. */
const STARVED_HOST = `
  import { closeSync, openSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  const [linkUrl, entryUrl, options] = process.argv.slice(1);
  const { createProcessLink } = await import(linkUrl);
  let pid = 0;
  const link = createProcessLink(JSON.parse(options), {
    entry: { url: new URL(entryUrl), execArgv: ['--conditions=@ortler/source'] },
    policy: { firstDelayMs: 20, longestDelayMs: 40, healthyMs: 60000 },
    onSpawn: id => { pid = id; },
  });
  const errors = [];
  const ignore = () => {};
  await link.start({ onMessage: ignore, onReady: ignore, onDown: error => errors.push(error.message) });
  const files = [];
  try { for (;;) files.push(openSync('/dev/null')); } catch {}
  process.kill(pid, 'SIGKILL');
  while (errors.length < 3) await sleep(5);
  for (const file of files) closeSync(file);
  while (link.state !== 'ready') await sleep(5);
  await link.close();
  console.log(JSON.stringify(errors.slice(0, 3)));
`;

test.skipIf(process.platform === 'win32')(
  'a model process is started again after a time in which the system could create none',
  async () => {
    const { url, execArgv } = entry;
    const linkUrl = new URL('./process-link.ts', import.meta.url).href;
    const host = [...execArgv, '--input-type=module', '--eval', STARVED_HOST];
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -n 128 && exec "$0" "$@"',
      process.execPath,
      ...[...host, linkUrl, url.href, JSON.stringify(SCRIPTED_CORE_OPTIONS)],
    ]);
    const [killed, ...refused] = JSON.parse(stdout) as string[];
    expect(killed).toContain('SIGKILL');
    for (const message of refused) expect(message).toContain('EMFILE');
  },
  20_000,
);
