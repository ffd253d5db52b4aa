import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepareOnce } from './prepare-once.ts';

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'ortler-once-'));
});
afterEach(() => rm(cacheDir, { recursive: true, force: true }));

const optionsOf = (sourceDir: string) => ({ sourceDir, cacheDir, precision: 'q8' as const });

/**
 * Another process that has begun to prepare a model and never ends. Its timer holds the promise, as a real build is held by what it
 * waits for: otherwise the garbage collector could take it, and the lock with it.
 */
async function startOwner(sourceDir: string) {
  const module = join(import.meta.dirname, 'prepare-once.ts');
  const program = `
    const { prepareOnce } = await import(${JSON.stringify(module)});
    const prepare = () => new Promise(end => {
      setInterval(() => end === undefined && end(), 1_000);
      console.log('begun');
    });
    await prepareOnce(${JSON.stringify(optionsOf(sourceDir))}, () => undefined, prepare);`;
  const args = ['--conditions=@ortler/source', '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

it('waits for another process that builds the same model, and goes on when that is killed', async () => {
  const owner = await startOwner('/models/a');
  const waits = Promise.withResolvers<void>();
  let isKilled = false;
  const prepared = prepareOnce(optionsOf('/models/a'), waits.resolve, async () => {
    expect(isKilled).toBe(true);
    return 'built';
  });
  await waits.promise;
  // Another model does not wait.
  expect(await prepareOnce(optionsOf('/models/b'), waits.reject, async () => 'other')).toBe('other');
  isKilled = true;
  owner.kill('SIGKILL');
  expect(await prepared).toBe('built');
});

it('is left by its signal while it waits', async () => {
  const owner = await startOwner('/models/a');
  const stop = new AbortController();
  const options = { ...optionsOf('/models/a'), signal: stop.signal };
  const prepared = prepareOnce(
    options,
    () => stop.abort(new Error('stopped')),
    async () => 'built',
  );
  await expect(prepared).rejects.toThrow('stopped');
  owner.kill('SIGKILL');
});

it('builds without a lock where there can be none', async () => {
  await writeFile(join(cacheDir, 'locks'), 'no folder');
  expect(
    await prepareOnce(
      optionsOf('/models/a'),
      () => undefined,
      async () => 'built',
    ),
  ).toBe('built');
});

it('gives on the fault of a build, and frees the lock', async () => {
  const fault = new Error('no weights');
  const failing = () => Promise.reject(fault);
  await expect(prepareOnce(optionsOf('/models/a'), () => undefined, failing)).rejects.toBe(fault);
  expect(
    await prepareOnce(
      optionsOf('/models/a'),
      () => undefined,
      async () => 'built',
    ),
  ).toBe('built');
  expect(await readdir(join(cacheDir, 'locks'))).toHaveLength(1);
});
