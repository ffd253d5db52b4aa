// Teams as operators set them up: keys made and removed on the command line beside a running server, and what each reaches.
// Every endpoint is walked in apps/server/test/teams.test.ts; here the key store, the cache of prompts and HTTP are real.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTinyAdapter } from '@ortler/model-builder/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChatClient, type Json } from '../support/chat-client.ts';
import { ORTLER, type RunningServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startTinyServer();
});
afterAll(() => server?.dispose());

async function keys(...args: readonly string[]): Promise<string> {
  const dataDir = ['--data-dir', join(server.folder, 'data')];
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [...ORTLER, 'keys', ...args, ...dataDir]);
  return stdout.trim();
}

async function call(apiKey: string, method: string, path: string, body?: object): Promise<Json> {
  const reply = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: reply.status, body: await reply.json() };
}

test('a key of a team reaches what the team has, shares its cached prompts, and ends when it is removed', async () => {
  const [first, second, stranger] = [
    await keys('create', '--team', 'acme', '--name', 'first'),
    await keys('create', '--team', 'acme', '--name', 'second'),
    await keys('create', '--team', 'beta'),
  ];
  // A new key is let in within a second.
  const statusOf = async (apiKey: string) => (await call(apiKey, 'GET', '/v1/models')).status;
  for (const apiKey of [first, second, stranger])
    await expect.poll(() => statusOf(apiKey), { timeout: 10_000, interval: 200 }).toBe(200);

  const messages = [{ role: 'user', content: 'The same long question of every caller, word for word.' }];
  const cachedFor = async (apiKey: string) => {
    const { usage } = await createChatClient({ url: server.url, apiKey }).chat({ messages, max_tokens: 1 });
    return usage.prompt_tokens_details.cached_tokens as number;
  };
  expect(await cachedFor(first)).toBe(0);
  expect(await cachedFor(second)).toBeGreaterThan(0);
  expect(await cachedFor(stranger)).toBe(0);
  expect(await cachedFor(server.apiKey)).toBe(0);

  await createTinyAdapter(join(server.folder, 'data/checkpoints/acme/run-1'));
  const models = '/v1/preview/models';
  const made = await call(first, 'POST', models, { name: 'clerk', base_model: 'a' });
  expect(made.body.entity).toBe('acme');
  const path = `${models}/${made.body.id}/checkpoints`;
  expect((await call(second, 'POST', path, { weights: { path: 'run-1' } })).status).toBe(200);
  const listed = async (apiKey: string) =>
    (await call(apiKey, 'GET', '/v1/models')).body.data.map(({ id }: Json) => id);
  const clerk = ['acme/default/clerk', 'acme/default/clerk:step0'];
  expect(await listed(second)).toEqual(['a', 'b', ...clerk]);
  expect(await listed(server.apiKey)).toEqual(['a', 'b', ...clerk]);
  expect(await listed(stranger)).toEqual(['a', 'b']);
  const foreign = await call(stranger, 'GET', path);
  const unknown = await call(stranger, 'GET', path.replace(made.body.id, 'nobody'));
  expect(foreign.status).toBe(404);
  expect(foreign.body.detail.replace(made.body.id, 'nobody')).toBe(unknown.body.detail);

  const [line] = (await keys('list')).split('\n').filter(found => found.includes('second'));
  await keys('remove', line!.split(' ')[0]!);
  await expect.poll(() => statusOf(second), { timeout: 30_000, interval: 500 }).toBe(401);
  expect(await statusOf(first)).toBe(200);
});
