// The server on two tiny random models, for tests that need no sensible answers.

import { join } from 'node:path';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { makeServerFolder, type RunningServer, type StartOptions, startServer } from './server.ts';

/** Starts `ortler serve` with two tiny models, `a` and `b`, and waits until both are ready. */
export async function startTinyServer(options: StartOptions = {}): Promise<RunningServer> {
  const folder = options.folder ?? (await makeServerFolder());
  await createTinyCheckpoint(join(folder, 'a'));
  await createTinyCheckpoint(join(folder, 'b'), { modelType: 'qwen3', seed: 2 });
  const models = `a=${join(folder, 'a')},b=${join(folder, 'b')}`;
  return startServer({
    ...options,
    folder,
    arguments: ['--models', models, ...(options.arguments ?? [])],
  });
}
