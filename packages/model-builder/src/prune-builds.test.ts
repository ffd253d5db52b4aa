import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { markBuildUsed, pruneBuilds } from './prune-builds.ts';

const HOUR_MS = 3_600_000;
const NOW = 1_800_000_000_000;

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'ortler-prune-'));
  await mkdir(join(cacheDir, 'stamps'));
});
afterEach(() => rm(cacheDir, { recursive: true }));

const nameOf = (letter: string) => `q4-${letter.repeat(32)}`;

/** A build of 1,000 bytes. */
async function addBuild(letter: string, ageMs: number): Promise<string> {
  const path = join(cacheDir, nameOf(letter));
  await mkdir(path);
  await writeFile(join(path, 'model.onnx'), Buffer.alloc(1_000));
  await writeFile(join(cacheDir, 'stamps', `build-${letter.repeat(32)}.json`), '{}');
  const seconds = (NOW - ageMs) / 1000;
  await utimes(path, seconds, seconds);
  return path;
}

const left = async () => (await readdir(cacheDir)).filter(name => name.startsWith('q4-')).sort();
const prune = (rule: object) => pruneBuilds({ cacheDir, now: NOW, ...rule });

it('removes builds that were not used for the longest age, with their stamps', async () => {
  await addBuild('a', 50 * HOUR_MS);
  await addBuild('b', 2 * HOUR_MS);
  const { removed, kept } = await prune({ maxAgeMs: 24 * HOUR_MS });
  expect([removed.length, kept.length, removed[0]?.bytes]).toEqual([1, 1, 1_000]);
  expect(await left()).toEqual([nameOf('b')]);
  expect(await readdir(join(cacheDir, 'stamps'))).toEqual([`build-${'b'.repeat(32)}.json`]);
});

it('removes the least recently used builds until the rest has at most the largest size', async () => {
  for (const [index, letter] of ['a', 'b', 'c'].entries()) await addBuild(letter, (10 - index) * HOUR_MS);
  await prune({ maxBytes: 1_500 });
  expect(await left()).toEqual([nameOf('c')]);
});

it('removes as much as is needed, and no more', async () => {
  for (const [index, letter] of ['a', 'b', 'c'].entries()) await addBuild(letter, (10 - index) * HOUR_MS);
  await prune({ neededBytes: 1_000 });
  expect(await left()).toEqual([nameOf('b'), nameOf('c')]);
});

it('keeps builds in use, those used within the last hour, and what is not a build', async () => {
  const used = await addBuild('a', 99 * HOUR_MS);
  await addBuild('b', 99 * HOUR_MS);
  await addBuild('c', HOUR_MS / 2);
  await mkdir(join(cacheDir, 'my-folder'));
  await markBuildUsed(join(cacheDir, nameOf('b')), cacheDir, NOW);
  await prune({ maxAgeMs: 1, maxBytes: 0, inUse: [used] });
  expect(await left()).toEqual([nameOf('a'), nameOf('b'), nameOf('c')]);
  expect(await readdir(cacheDir)).toContain('my-folder');
});

it('removes nothing in a dry run', async () => {
  await addBuild('a', 99 * HOUR_MS);
  expect((await prune({ maxAgeMs: 1, isDryRun: true })).removed).toHaveLength(1);
  expect(await left()).toEqual([nameOf('a')]);
});
