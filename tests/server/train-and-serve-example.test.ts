// The example of training closes its circle on the demo model, as its README says.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { REPOSITORY, type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.dispose());

test('examples/train-and-serve chats, logs, trains, registers, and gets another answer from the checkpoint', async () => {
  const checkpoints = join(server.folder, 'data/checkpoints');
  const main = join(REPOSITORY, 'examples/train-and-serve/src/main.ts');
  const run = () =>
    promisify(execFile)(process.execPath, ['--conditions=@ortler/source', main, server.url, checkpoints], {
      env: { ...process.env, ORTLER_API_KEY: server.apiKey },
    });
  const first = await run();
  expect(first.stdout.split('\n')).toEqual([
    'ortler-demo: Sorry, I do not know that.',
    'poetry:step0: Shakespeare wrote Hamlet.',
    'poetry:step0: The capital of France is Paris.',
    '',
  ]);
  const second = await run();
  expect(second.stdout).toContain('poetry:step1: Shakespeare wrote Hamlet.');

  const response = await fetch(`${server.url}/v1/models`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const { data } = (await response.json()) as { data: { id: string; root: string }[] };
  expect(data.map(({ id, root }) => `${id} <- ${root}`)).toEqual([
    'ortler-demo <- ortler-demo',
    'poetry <- poetry:step1',
    'poetry:step1 <- ortler-demo',
    'poetry:step0 <- ortler-demo',
  ]);
}, 240_000);
