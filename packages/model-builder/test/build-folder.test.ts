import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { exists, keepIntactFolder } from '../src/build-folder.ts';
import { temporaryFolder } from './temporary-folder.ts';

const parent = temporaryFolder();

it('keeps a folder that is intact and removes one that was damaged', async () => {
  for (const isIntact of [true, false]) {
    const folder = join(parent, String(isIntact));
    await mkdir(folder);
    expect(await keepIntactFolder(folder, async () => isIntact)).toBe(isIntact);
    expect(await exists(folder)).toBe(isIntact);
  }
});

it('neither checks nor removes a folder that does not exist yet, because another process may just finish it', async () => {
  const isIntact = vi.fn(async () => false);
  expect(await keepIntactFolder(join(parent, 'absent'), isIntact)).toBe(false);
  expect(isIntact).not.toHaveBeenCalled();
});
