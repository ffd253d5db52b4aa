// A build in a thread of its own: its signal.

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareModel } from '../src/prepare-model.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();

it('a signal that fires before the thread of the build is started ends it', async () => {
  const sourceDir = join(folder, 'source');
  await createTinyCheckpoint(sourceDir);
  const controller = new AbortController();
  const reason = new Error('stopped');
  const { signal } = controller;
  const build = prepareModel({ sourceDir, cacheDir: join(folder, 'cache'), precision: 'f32', signal });
  controller.abort(reason);
  await expect(build).rejects.toBe(reason);
});
