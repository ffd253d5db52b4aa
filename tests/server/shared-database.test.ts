// Two servers with one PostgreSQL and one data folder: each model is built once, and what one of them stores the other has at once.

import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPostgresDatabase, TEST_POSTGRES_URL } from '../../apps/server/test/databases.ts';
import { makeServerFolder, ORTLER, type RunningServer, startServer } from '../support/server.ts';

const ADMIN = 'key-of-both';
/** Longer than any agreement takes, for a busy machine. */
const PATIENCE = { timeout: 20_000, interval: 50 };
const reason = TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : '';

describe.skipIf(TEST_POSTGRES_URL === undefined)(`two servers with one database${reason}`, () => {
  let folder: string;
  let database: { readonly url: string; drop(): Promise<void> };
  let one: RunningServer;
  let two: RunningServer;

  const call = (server: RunningServer, path: string, body?: object, key = ADMIN) =>
    fetch(server.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
  const keys = async (...args: readonly string[]) => {
    const all = [...ORTLER, 'keys', ...args, '--database-url', database.url];
    return (await promisify(execFile)(process.execPath, all)).stdout.trim();
  };

  beforeAll(async () => {
    folder = await makeServerFolder();
    database = await createPostgresDatabase();
    await createTinyCheckpoint(join(folder, 'a'));
    const start = () =>
      startServer({
        folder,
        arguments: ['--models', `a=${join(folder, 'a')}`],
        env: { ORTLER_API_KEY: ADMIN, DATABASE_URL: database.url },
      });
    [one, two] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await one?.dispose();
    await two?.dispose();
    await database?.drop();
  });

  it('share the build of a model', async () => {
    const names = await readdir(join(folder, 'data', 'models'));
    expect(names.filter(name => /-[0-9a-f]{32}/.test(name))).toHaveLength(1);
  });

  it('agree on keys that were made and removed', async () => {
    const key = await keys('create', '--name', 'shared');
    for (const server of [one, two])
      await vi.waitFor(
        async () => expect((await call(server, '/v1/models', undefined, key)).status).toBe(200),
        PATIENCE,
      );
    const [, id] = /^(\S+)\s.*shared/m.exec(await keys('list'))!;
    await keys('remove', id!);
    for (const server of [one, two])
      await vi.waitFor(
        async () => expect((await call(server, '/v1/models', undefined, key)).status).toBe(401),
        PATIENCE,
      );
  });

  it('agree on registered models with the next request', async () => {
    const created = await call(one, '/v1/preview/models', { name: 'clerk', base_model: 'a' });
    expect(created.status).toBe(200);
    const list = (await (await call(two, '/v1/models')).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toContain('clerk');
  });

  it('agree on usage with the next request, and on stored responses', async () => {
    const used = async (server: RunningServer) => {
      const path = '/v1/organization/usage/completions?start_time=1700000000&limit=31&bucket_width=1d';
      const start = Math.floor(Date.now() / 1000) - 86_400;
      const page = await call(server, path.replace('1700000000', String(start)));
      const { data } = (await page.json()) as {
        data: { results: { num_model_requests: number; output_tokens: number }[] }[];
      };
      return data
        .flatMap(({ results }) => results)
        .reduce((sum, result) => sum + result.num_model_requests, 0);
    };
    for (const [index, server] of [one, two, one].entries()) {
      const reply = await call(server, '/v1/responses', { input: 'Count.', max_output_tokens: 4 });
      const { id } = (await reply.json()) as { id: string };
      for (const other of [one, two]) {
        expect(await used(other)).toBe(index + 1);
        expect((await call(other, `/v1/responses/${id}`)).status).toBe(200);
      }
    }
  });

  it('agree on rate limits within a second', async () => {
    const key = await keys('create', '--name', 'limited', '--requests-per-minute', '60');
    const admitted = new Map([one, two].map(server => [server, 0]));
    const request = async (server: RunningServer) => {
      const reply = await call(server, '/v1/models', undefined, key);
      if (reply.status === 200) admitted.set(server, admitted.get(server)! + 1);
      return { status: reply.status, left: Number(reply.headers.get('x-ratelimit-remaining-requests')) };
    };
    await vi.waitFor(async () => expect((await request(two)).status).toBe(200), PATIENCE);
    for (let count = 0; count < 30; count++) await request(one);
    await vi.waitFor(async () => expect((await request(two)).left).toBeLessThan(45), PATIENCE);
    while ((await request(one)).status === 200);
    await vi.waitFor(async () => expect((await request(two)).status).toBe(429), PATIENCE);
    expect(admitted.get(one)! + admitted.get(two)!).toBeGreaterThan(55);
    // Alone each would admit 60. The second one is asked every 50 ms only until it hears of the other.
    expect(admitted.get(two)).toBeLessThan(45);
  });
});
