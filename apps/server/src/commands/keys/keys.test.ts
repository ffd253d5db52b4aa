import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Config, readConfig } from '../../config/config.ts';
import { createKey, deleteKey, showKeys } from './keys.ts';

let folder: string;
let config: Config;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-keys-'));
  config = readConfig({ ORTLER_DATA_DIR: folder });
});
afterAll(() => rm(folder, { recursive: true }));

function record() {
  const written = { out: '', err: '' };
  const terminal = {
    out: (text: string) => {
      written.out += text;
    },
    err: (text: string) => {
      written.err += text;
    },
    isScreen: false,
  };
  return { written, terminal };
}

it('creates a key, alone on standard output, lists it without the key itself, and removes it', async () => {
  const made = record();
  await createKey(config, { name: 'trainer', team: 'acme' }, made.terminal);
  expect(made.written.out).toMatch(/^ortler-[\w-]{43}\n$/);
  expect(made.written.err).toContain('has access to the data of the team acme');
  expect(made.written.err).toContain(`its hash is stored in ${folder}.`);

  const listed = record();
  await showKeys(config, listed.terminal);
  const [, id] = /^(\w{16}) {2}acme {2}\S+ {2}trainer\n$/.exec(listed.written.out)!;
  expect(listed.written.out).not.toContain(made.written.out.trim());

  await deleteKey(config, id!, record().terminal);
  const empty = record();
  await showKeys(config, empty.terminal);
  expect(empty.written).toEqual({ out: '', err: `There are no keys in ${folder}.\n` });
  await expect(deleteKey(config, id!, record().terminal)).rejects.toThrow(`There is no key ${id}.`);
}, 60_000);

it('refuses invalid names', async () => {
  const { terminal } = record();
  await expect(createKey(config, { name: '', team: '../x' }, terminal)).rejects.toThrow('got "../x"');
  await expect(createKey(config, { name: 'a\nb', team: null }, terminal)).rejects.toThrow('control');
});

// Root may read everything.
it.skipIf(process.getuid?.() === 0)(
  'says that a data folder may not be read, not that it is empty',
  async () => {
    const dataDir = join(folder, 'of-the-server');
    const other = readConfig({ ORTLER_DATA_DIR: dataDir });
    const { terminal } = record();
    await createKey(other, { name: '', team: null }, terminal);
    await chmod(dataDir, 0);
    await expect(showKeys(other, terminal)).rejects.toThrow(
      `The data folder ${dataDir} may not be read by this user.`,
    );
    await chmod(dataDir, 0o755);
  },
);

it('makes no database where it only reads or removes', async () => {
  const misspelt = join(folder, 'misspelt');
  const missing = readConfig({ ORTLER_DATA_DIR: misspelt });
  const { terminal } = record();
  for (const command of [showKeys(missing, terminal), deleteKey(missing, 'some-id', terminal)])
    await expect(command).rejects.toThrow(`There is no database in ${misspelt}.`);
  expect(existsSync(misspelt)).toBe(false);
});
