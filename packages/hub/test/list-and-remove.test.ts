// The models of a cache, and their removal.

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchModel, listCachedModels, removeCachedModel } from '@ortler/hub';
import { describe, expect, test } from 'vitest';
import { checkpointFiles, describeTree, seededBytes, TUNING, temporaryHub } from './temporary-hub.ts';

const GGUF = {
  'README.md': 'x',
  'm-Q4_K_M.gguf': seededBytes(20_000, 1),
  'm-Q8_0-00001-of-00002.gguf': seededBytes(30_000, 2),
  'm-Q8_0-00002-of-00002.gguf': seededBytes(30_000, 3),
};

async function openCache() {
  const temporary = await temporaryHub({
    'org/model': { files: checkpointFiles(100_000), revisions: { v2: checkpointFiles(100_000, 2) } },
    'org/quants': { files: GGUF },
  });
  const { options, cacheDir } = temporary;
  for (const name of ['org/model', 'org/model@v2', 'org/quants', 'org/quants:Q8_0'])
    await fetchModel(name, options);
  const names = async () => (await listCachedModels(cacheDir)).map(({ name }) => name);
  return { ...temporary, names };
}

describe('the list', () => {
  test('has a row for each revision and each quantisation, with its size and format', async () => {
    const { cacheDir } = await openCache();
    const rows = (await listCachedModels(cacheDir)).map(({ name, kind, bytes }) => ({ name, kind, bytes }));
    expect(rows).toEqual(
      expect.arrayContaining([
        { name: 'org/model', kind: 'safetensors', bytes: 100_045 },
        { name: 'org/model@v2', kind: 'safetensors', bytes: 100_045 },
        { name: 'org/quants:Q4_K_M', kind: 'gguf', bytes: 20_000 },
        { name: 'org/quants:Q8_0', kind: 'gguf', bytes: 60_000 },
      ]),
    );
    expect(rows).toHaveLength(4);
  });

  test('shows downloads that have not ended, and files that are not built', async () => {
    const { hub, cacheDir, options } = await temporaryHub({ 'org/part': { files: checkpointFiles() } });
    hub.fault = ({ range }) => (range === 'bytes=0-65535' ? { kind: 'silence', afterBytes: 0 } : undefined);
    const tuning = { ...TUNING, silenceMs: 1_000, tryCount: 2 };
    await expect(fetchModel('org/part', { ...options, tuning })).rejects.toThrow();
    const snapshot = join(cacheDir, 'models--org--bert/snapshots', 'a'.repeat(40));
    await mkdir(snapshot, { recursive: true });
    await writeFile(join(snapshot, 'pytorch_model.bin'), 'x');
    await mkdir(join(cacheDir, 'datasets--org--data'));
    const rows = (await listCachedModels(cacheDir)).map(({ name, kind }) => `${name} ${kind}`);
    expect(rows).toEqual([`org/bert@${'a'.repeat(40)} other`, 'org/part partial']);
    expect((await listCachedModels(cacheDir)).at(-1)!.bytes).toBeGreaterThan(200_000);
    expect(await listCachedModels(join(cacheDir, 'nowhere'))).toEqual([]);
  });
});

describe('a removal', () => {
  test('of a name removes all of its revisions', async () => {
    const { cacheDir, names } = await openCache();
    const dry = await removeCachedModel('org/model', { cacheDir, dryRun: true });
    expect(dry).toMatchObject({ name: 'org/model', bytes: expect.any(Number) });
    expect(dry.bytes).toBeGreaterThan(200_000);
    expect(await names()).toHaveLength(4);
    await removeCachedModel('org/model', { cacheDir });
    expect(await names()).toEqual(['org/quants:Q4_K_M', 'org/quants:Q8_0']);
    expect((await readdir(cacheDir)).filter(name => name !== '.locks')).toEqual(['models--org--quants']);
  });

  test('of a revision keeps the blobs that others share', async () => {
    const { cacheDir, names, options } = await openCache();
    const { bytes } = await removeCachedModel('org/model@v2', { cacheDir });
    // Only the weights differ between the two.
    expect(bytes).toBe(100_000);
    expect(await names()).toEqual(['org/model', 'org/quants:Q4_K_M', 'org/quants:Q8_0']);
    await fetchModel('org/model', { ...options, offline: true });
    await expect(fetchModel('org/model@v2', { ...options, offline: true })).rejects.toMatchObject({
      code: 'not_cached',
    });
  });

  test('of a quantisation removes its shards and their blobs', async () => {
    const { cacheDir, names } = await openCache();
    expect(await removeCachedModel('org/quants:q8_0', { cacheDir })).toEqual({
      name: 'org/quants:q8_0',
      bytes: 60_000,
    });
    expect(await names()).not.toContain('org/quants:Q8_0');
    const tree = await describeTree(join(cacheDir, 'models--org--quants'));
    expect(Object.keys(tree).filter(path => path.startsWith('blobs'))).toHaveLength(1);
  });

  test('of something that is not there names the cache', async () => {
    const { cacheDir } = await openCache();
    for (const name of ['org/nothing', 'org/model@v9', 'org/quants:Q2_K'])
      await expect(removeCachedModel(name, { cacheDir })).rejects.toThrow(
        `${name} is not in the cache ${cacheDir}`,
      );
  });
});
