import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkDisk } from './check-disk.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-disk-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('reports the free space of a folder, and leaves no file in it', async () => {
  const report = await checkDisk(folder, 0);
  expect(report).toMatchObject({ state: 'ok' });
  expect(report.free_bytes).toBeGreaterThan(0);
  expect(await readdir(folder)).toEqual([]);
});

it('reports little free space as low', async () => {
  expect(await checkDisk(folder, Number.MAX_SAFE_INTEGER)).toMatchObject({ state: 'low' });
});

it('reports a folder that is gone as missing', async () => {
  expect(await checkDisk(join(folder, 'nowhere'), 0)).toEqual({ state: 'missing' });
});

it.skipIf(process.platform !== 'linux')('reports a folder that takes no files as unwritable', async () => {
  expect(await checkDisk('/proc/self', 0)).toMatchObject({
    state: expect.stringMatching(/unwritable|missing/),
  });
});
