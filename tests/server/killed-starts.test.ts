// `ortler chat` of a model by its name, killed at random moments of its download and of its build: each next start goes on, nothing
// half-made is ever shown, and wrong bytes are found by their hash.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type LocalHub, readFolder, startHub } from '@ortler/hub/testing';
import { runs } from 'test-runs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ORTLER, REPOSITORY } from '../support/server.ts';

const NAME = 'ortler/demo';
const KILL_COUNT = runs({ daily: 4, full: 5 });

/** A download of about half a second. */
const SLOW = { kind: 'slow', pieceBytes: 200_000, pauseMs: 10 } as const;

let hub: LocalHub;
let files: Readonly<Record<string, Buffer>>;
let folder: string;
beforeAll(async () => {
  files = await readFolder(join(REPOSITORY, 'models/demo'));
  hub = await startHub({ [NAME]: { files } });
  folder = await mkdtemp(join(tmpdir(), 'ortler-killed-'));
});
afterAll(async () => {
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

/** The folders of one user. */
interface Home {
  readonly snapshot: string;
  /** Built models. */
  readonly models: string;
  start(...args: readonly string[]): Start;
}

interface Start {
  /** Resolves with whether it was still running. */
  kill(): Promise<boolean>;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
}

function home(name: string): Home {
  const own = join(folder, name);
  const others = Object.entries(process.env).filter(([variable]) => !/^(ORTLER|HF)_/.test(variable));
  const env = { ...Object.fromEntries(others), HF_ENDPOINT: hub.url, HF_HOME: join(own, 'hf') };
  return {
    snapshot: join(own, 'hf/hub/models--ortler--demo/snapshots', hub.commit(NAME)),
    models: join(own, 'data/models'),
    start(...args) {
      const fixed = ['--temperature', '0', '--device', 'cpu', '--data-dir', join(own, 'data')];
      const question = ['chat', NAME, 'What is the capital of France?'];
      // A group of its own, which is killed as a whole.
      const child = spawn(process.execPath, [...ORTLER, ...question, ...fixed, ...args], {
        env,
        cwd: folder,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [out, err] = ['', ''];
      child.stdout.on('data', text => (out += String(text)));
      child.stderr.on('data', text => (err += String(text)));
      const ended = once(child, 'close').then(() => ({ code: child.exitCode, out, err }));
      return {
        ended,
        async kill() {
          const isRunning = child.exitCode === null;
          if (isRunning) process.kill(-child.pid!, 'SIGKILL');
          await ended;
          return isRunning;
        },
      };
    },
  };
}

/** What must hold at every moment. */
async function findHalfMade({ snapshot, models }: Home): Promise<readonly string[]> {
  const faults: string[] = [];
  const shown = existsSync(snapshot) ? await readdir(snapshot) : [];
  for (const name of shown)
    if (!(await readFile(join(snapshot, name))).equals(files[name]!))
      faults.push(`${name} has other content`);
  if (
    shown.includes('model.safetensors') &&
    !['config.json', 'tokenizer.json'].every(name => shown.includes(name))
  )
    faults.push('weights are shown without the files beside them');
  for (const name of existsSync(models) ? await readdir(models) : []) {
    const manifest = await readFile(join(models, name, 'ortler-model.json'), 'utf8').catch(() => undefined);
    // A temporary folder, which no start opens, or the stamps of files.
    if (manifest === undefined || name.startsWith('.')) continue;
    for (const [file, hash] of Object.entries<string>(JSON.parse(manifest).files)) {
      const content = await readFile(join(models, name, file)).catch(() => Buffer.alloc(0));
      if (createHash('sha256').update(content).digest('hex') !== hash)
        faults.push(`${name}/${file} is damaged`);
    }
  }
  return faults;
}

/** Seeded numbers in [0, 1). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it(`is whole after ${KILL_COUNT} kills at random moments`, { timeout: 600_000 }, async () => {
  const random = createRandom(8);
  hub.fault = ({ server }) => (server === 'cdn' ? SLOW : undefined);
  const startedAtMs = performance.now();
  const undisturbed = await home('undisturbed').start().ended;
  const wholeMs = performance.now() - startedAtMs;
  expect(undisturbed).toMatchObject({ code: 0, out: expect.stringContaining('Paris') });

  let [user, userCount] = [home('0'), 0];
  for (let killCount = 0; killCount < KILL_COUNT; ) {
    let wrongBytes = killCount % 4 === 3 ? 1 : 0;
    hub.fault = ({ server }) => {
      if (server !== 'cdn') return undefined;
      return wrongBytes-- > 0 ? { kind: 'wrong-byte' } : SLOW;
    };
    const start = user.start();
    // The loading of modules at the beginning writes nothing.
    await pause(wholeMs * (0.2 + 0.8 * random()));
    const isKilled = await start.kill();
    expect(await findHalfMade(user)).toEqual([]);
    if (isKilled) killCount++;
    // What is whole has nothing left to kill: the next kills are for another user.
    else user = home(String(++userCount));
  }

  hub.fault = () => undefined;
  expect(await user.start().ended).toMatchObject({ code: 0, out: undisturbed.out });
  expect(await findHalfMade(user)).toEqual([]);
  hub.requests.length = 0;
  expect(await user.start('--offline').ended).toEqual({ code: 0, out: undisturbed.out, err: '' });
  expect(hub.requests).toEqual([]);
  const built = (await readdir(user.models)).filter(name => name !== 'stamps');
  expect(built).toEqual((await readdir(home('undisturbed').models)).filter(name => name !== 'stamps'));
});
