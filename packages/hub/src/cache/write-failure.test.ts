import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HubError } from '../errors.ts';
import { toWriteFailure } from './write-failure.ts';

function failed(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code, syscall: 'mkdir' });
}

test('a full disk, and what can be done', async () => {
  expect(await toWriteFailure(failed('ENOSPC'), '/cache')).toMatchObject({
    code: 'write_failed',
    message:
      'The cache /cache cannot be written: the disk is full. Make room or change the permission there, or choose another folder with HF_HUB_CACHE.',
  });
});

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)('names the permissions behind ENOENT', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-locked-'));
  await chmod(folder, 0o555);
  const error = (await toWriteFailure(failed('ENOENT'), join(folder, 'a', 'b'))) as Error;
  expect(error.message).toContain('its permissions do not allow it');
  await rm(folder, { recursive: true });
});

test('errors of no file are left as they are', async () => {
  const error = new HubError('no_space', 'full');
  expect(await toWriteFailure(error, '/cache')).toBe(error);
  const other = new TypeError('other');
  expect(await toWriteFailure(other, '/cache')).toBe(other);
});
