import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { checkRoom } from './check-room.ts';

it('a build that would fill the disk is refused before its first byte', async () => {
  await checkRoom(tmpdir(), '/builds/model', 1);
  await expect(checkRoom(tmpdir(), '/builds/model', 2 ** 60)).rejects.toMatchObject({
    code: 'write_failed',
    message: expect.stringMatching(
      /^\/builds\/model cannot be written: it takes \d+ bytes, and the disk has \d+ bytes left/,
    ),
  });
});
