import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findCheckpoint } from '../checkpoint-source.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-layout-'));
});
afterEach(() => rm(folder, { recursive: true }));

it.each([
  ['model_index.json', 'is a diffusion pipeline'],
  ['adapter_config.json', 'is an adapter'],
  ['params.json', 'is in the layout of its makers'],
])('a folder with %s in place of config.json is refused by what it is', async (file, message) => {
  await writeFile(join(folder, file), '{}');
  const source = await findCheckpoint(folder);
  const fault = { code: 'unsupported', file: join(folder, file), message: expect.stringContaining(message) };
  await expect(source.listFiles()).rejects.toMatchObject(fault);
  await expect(source.open()).rejects.toMatchObject(fault);
  await writeFile(join(folder, 'config.json'), '{}');
  await expect(source.open()).rejects.not.toMatchObject({ message: expect.stringContaining(message) });
});
