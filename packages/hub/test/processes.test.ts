// Downloads in processes: killed at random moments, and several at once.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fetchModel } from '@ortler/hub';
import { describe, expect, test } from 'vitest';
import { TUNING } from './small-tuning.ts';
import {
  checkpointFiles,
  findHalfMade,
  seededBytes,
  type TemporaryHub,
  temporaryHub,
} from './temporary-hub.ts';

const NAME = 'org/model';
const NEEDED = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];

/** Bytes of chunks that four connections have not finished. */
const OPEN_BYTES = 4 * TUNING.chunkBytes;

interface Fetching {
  readonly child: ChildProcess;
  output(): string;
  readonly ended: Promise<unknown>;
}

function startFetching({ hub, cacheDir }: Pick<TemporaryHub, 'hub' | 'cacheDir'>): Fetching {
  const script = join(import.meta.dirname, 'fetch-in-process.ts');
  const child = spawn(process.execPath, ['--conditions=@ortler/source', script, hub.url, cacheDir, NAME], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', text => (output += String(text)));
  return { child, output: () => output, ended: once(child, 'close') };
}

/** Seeded numbers in [0, 1). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('kill -9', () => {
  test('at 20 random moments loses at most chunks that were not whole, and shows nothing half-made', async () => {
    const files = checkpointFiles(2_000_000);
    const slow = { kind: 'slow', pieceBytes: 3_000, pauseMs: 10 } as const;
    const openSlowHub = async () => {
      const opened = await temporaryHub({ [NAME]: { files } });
      opened.hub.fault = ({ server }) => (server === 'cdn' ? slow : undefined);
      return opened;
    };
    const random = createRandom(20);
    let temporary = await openSlowHub();
    let doneBytes = 0;
    for (let killCount = 0; killCount < 20; ) {
      const fetching = startFetching(temporary);
      // A start takes about as long as a piece of the download: some kills come before the first byte.
      const afterBytes = doneBytes + random() * 90_000;
      while (lastDone(fetching) < afterBytes && fetching.child.exitCode === null)
        await pause(1 + random() * 10);
      const isWhole = fetching.child.exitCode !== null;
      if (!isWhole && fetching.child.kill('SIGKILL')) killCount++;
      await fetching.ended;
      expect(await findHalfMade(temporary, NAME, files, NEEDED)).toEqual([]);
      const first = /^done (\d+)$/m.exec(fetching.output())?.[1];
      // At the start of a process all chunks are there that the one before had finished: four connections had one open.
      if (first !== undefined) expect(Number(first)).toBeGreaterThanOrEqual(doneBytes - OPEN_BYTES);
      doneBytes = Math.max(doneBytes, lastDone(fetching));
      if (!isWhole) continue;
      // On a busy machine a download may end before its kill; the next kills are for another.
      expect(fetching.output()).toContain('path ');
      temporary = await openSlowHub();
      doneBytes = 0;
    }
    temporary.hub.fault = () => undefined;
    const last = startFetching(temporary);
    await last.ended;
    expect(Number(/^done (\d+)$/m.exec(last.output())![1])).toBeGreaterThanOrEqual(doneBytes - OPEN_BYTES);
    const path = /^path (.+)$/m.exec(last.output())![1]!;
    const weights = await readFile(join(path, 'model.safetensors'));
    expect(weights.equals(files['model.safetensors'] as Buffer)).toBe(true);
  }, 300_000);
});

describe('kill -9 after the last bytes', () => {
  test('shows nothing half-made while hashes are checked and files get their names', async () => {
    const shards = Object.fromEntries(
      [1, 2, 3, 4, 5, 6].map(i => [`model-${i}.safetensors`, seededBytes(20_000, i)] as const),
    );
    const weightMap = Object.fromEntries(Object.keys(shards).map(name => [name, name]));
    const { 'model.safetensors': _, ...companions } = checkpointFiles();
    const index = JSON.stringify({ weight_map: weightMap });
    const files = { ...companions, ...shards, 'model.safetensors.index.json': index };
    const needed = Object.keys(files).filter(name => !/README|\.bin/.test(name));
    const random = createRandom(7);
    for (let i = 0; i < 10; i++) {
      const temporary = await temporaryHub({ [NAME]: { files } });
      const fetching = startFetching(temporary);
      while (lastDone(fetching) < 60_000 && fetching.child.exitCode === null) await pause(1);
      await pause(random() * 25);
      fetching.child.kill('SIGKILL');
      await fetching.ended;
      expect(await findHalfMade(temporary, NAME, files, needed)).toEqual([]);
      const offline = { ...temporary.options, offline: true };
      const found = await fetchModel(NAME, offline).catch(() => undefined);
      // What looks complete to a later start is complete.
      if (found !== undefined) {
        for (const name of needed)
          expect(
            (await readFile(join(found.path, name))).equals(Buffer.from(files[name as keyof typeof files])),
          ).toBe(true);
      }
      await fetchModel(NAME, temporary.options);
      expect(
        (await readFile(join((await fetchModel(NAME, offline)).path, 'model-6.safetensors'))).length,
      ).toBe(20_000);
    }
  }, 300_000);
});

function lastDone({ output }: Fetching): number {
  return Number([...output().matchAll(/^done (\d+)$/gm)].at(-1)?.[1] ?? 0);
}

describe('two processes', () => {
  test('download a model once: one loads it, the other waits and uses it', async () => {
    const temporary = await temporaryHub({ [NAME]: { files: checkpointFiles() } });
    const release = Promise.withResolvers<void>();
    const held = { kind: 'held', until: release.promise } as const;
    temporary.hub.fault = ({ server }) => (server === 'cdn' ? held : undefined);
    const all = [startFetching(temporary), startFetching(temporary), startFetching(temporary)];
    const waiting = () =>
      all.filter(({ output }) => output().includes('Another process downloads org/model'));
    while (waiting().length < 2) await pause(5);
    release.resolve();
    await Promise.all(all.map(({ ended }) => ended));
    const paths = all.map(({ output }) => /^path (.+)$/m.exec(output())?.[1]);
    expect(new Set(paths).size).toBe(1);
    expect(paths[0]).toBeDefined();
    expect(waiting()).toHaveLength(2);
    expect(waiting().some(({ output }) => output().includes('done '))).toBe(false);
    expect(temporary.hub.requests.filter(({ server }) => server === 'cdn')).toHaveLength(5);
  });

  test('take over from one that was killed, at once', async () => {
    const temporary = await temporaryHub({ [NAME]: { files: checkpointFiles() } });
    const slow = { kind: 'slow', pieceBytes: 1_000, pauseMs: 20 } as const;
    temporary.hub.fault = ({ server }) => (server === 'cdn' ? slow : undefined);
    const killed = startFetching(temporary);
    while (lastDone(killed) === 0) await pause(5);
    const notices: string[] = [];
    const next = fetchModel(NAME, { ...temporary.options, onNotice: text => notices.push(text) });
    while (notices.length === 0) await pause(5);
    temporary.hub.fault = () => undefined;
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(await next).toMatchObject({ kind: 'safetensors' });
  });

  test('need not be two: downloads of one process exclude each other too', async () => {
    const { hub, options } = await temporaryHub({ [NAME]: { files: checkpointFiles() } });
    const all = await Promise.all([1, 2, 3].map(() => fetchModel(NAME, options)));
    expect(new Set(all.map(({ path }) => path)).size).toBe(1);
    expect(hub.requests.filter(({ server }) => server === 'cdn')).toHaveLength(5);
  });
});
