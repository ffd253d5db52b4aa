import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { explainUnwritable } from './explain-unwritable.ts';

const root = mkdtempSync(join(tmpdir(), 'ortler-unwritable-'));
afterAll(() => rmSync(root, { recursive: true }));

async function explain(folder: string): Promise<string> {
  const error = await mkdir(folder, { recursive: true }).catch((cause: unknown) => cause);
  return explainUnwritable(folder, error);
}

it('names the file that stands in the way', async () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  expect(await explain(join(file, 'a', 'b'))).toBe(`${file} is a file, not a folder`);
});

it('names a link that leads nowhere', async () => {
  const link = join(root, 'link');
  symlinkSync(join(root, 'gone'), link);
  const fault = `${link} is a link to ${join(root, 'gone')}, which cannot be reached`;
  expect(await explain(link)).toBe(fault);
  expect(await explain(join(link, 'a'))).toBe(fault);
});

// Root may write everywhere.
it.skipIf(process.getuid?.() === 0)('names the folder that this user may not write', async () => {
  const folder = join(root, 'locked');
  mkdirSync(folder);
  chmodSync(folder, 0o555);
  expect(await explain(join(folder, 'a', 'b'))).toBe(`${folder} may not be written by this user`);
});

it('distinguishes a full disk and a read-only file system by the error', async () => {
  const failed = (code: string) => Object.assign(new Error(code), { code, syscall: 'write' });
  expect(await explainUnwritable(root, failed('ENOSPC'))).toBe('the disk is full');
  expect(await explainUnwritable(root, failed('EROFS'))).toBe(`${root} is on a read-only file system`);
  expect(await explainUnwritable(join(root, 'a', 'b'), failed('ENOENT'))).toBe(
    `${root} takes no new folders`,
  );
  expect(await explainUnwritable(root, failed('EIO'))).toBe('write failed with EIO');
});
