// What was acknowledged is there after the server is killed in the middle of writing, and nothing is there by half.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChdb, startChdb } from '@ortler/feedback-query/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createPostgresDatabase, TEST_POSTGRES_URL } from '../../apps/server/test/databases.ts';
import type { RunningServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

/** Batches sent at once; TEST_CREATE_COUNT asks for more. */
const CREATE_COUNT = Number(process.env.TEST_CREATE_COUNT ?? 300);
/** The server is killed when so many are acknowledged. */
const KILL_AFTER = CREATE_COUNT / 5;
const PROJECT = 'acme/app';
const KEY = 'durability-key';

let server: RunningServer | undefined;
let drop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await server?.dispose();
  await drop?.();
  server = undefined;
  drop = undefined;
});

async function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${server!.url}/feedback/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
}

/** A batch of two, so that half of one would be seen. */
function batchOf(number: number) {
  const item = (part: string) => ({
    project_id: PROJECT,
    weave_ref: 'weave:///acme/app/call/c',
    feedback_type: 'custom',
    id: `n${number}-${part}`,
    payload: { number, text: 'x'.repeat(500) },
  });
  return { batch: [item('a'), item('b')] };
}

/** @param perClient Batches that a client sends one after the other; one means that all are sent at once. */
async function killWhileWriting(databaseArguments: readonly string[], perClient = 1): Promise<void> {
  const settings = ['--api-key', KEY, ...databaseArguments];
  server = await startTinyServer({ arguments: settings });
  const acknowledged: number[] = [];
  const { child } = server;
  await Promise.allSettled(
    Array.from({ length: CREATE_COUNT / perClient }, async (_, client) => {
      for (let turn = 0; turn < perClient; turn++) {
        const number = client * perClient + turn;
        const response = await post('batch/create', batchOf(number));
        if (response.status !== 200) throw new Error(await response.text());
        await response.text();
        acknowledged.push(number);
        if (acknowledged.length === KILL_AFTER) child.kill('SIGKILL');
      }
    }),
  );
  expect(await server.exited).toBe('SIGKILL');
  expect(acknowledged.length).toBeGreaterThanOrEqual(KILL_AFTER);
  expect(acknowledged.length).toBeLessThan(CREATE_COUNT);

  server = await startTinyServer({ folder: server.folder, arguments: settings });
  const response = await post('query', { project_id: PROJECT, fields: ['id', 'payload'] });
  const { result } = (await response.json()) as { result: { id: string; payload: { text: string } }[] };
  const ids = new Set(result.map(({ id }) => id));
  for (const number of acknowledged) expect(ids).toContain(`n${number}-a`);
  for (const id of ids) expect(ids).toContain(id.replace(/.$/, last => (last === 'a' ? 'b' : 'a')));
  for (const { payload } of result) expect(payload.text).toHaveLength(500);
}

it('keeps acknowledged feedback through kill -9 on SQLite', () => killWhileWriting([]));

const python = findChdb();
it.skipIf(python === undefined)(
  `keeps acknowledged feedback through kill -9 on ClickHouse${python === undefined ? ' (skipped: TEST_PYTHON names no Python with chdb)' : ''}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ortler-chdb-'));
    const chdb = await startChdb(python!, folder);
    drop = async () => {
      await chdb.stop();
      await rm(folder, { recursive: true });
    };
    // What comes at once is written and acknowledged at once.
    await killWhileWriting(['--clickhouse-url', chdb.url], 10);
    const health = await fetch(`${server!.url}/health`);
    expect(await health.json()).toMatchObject({
      status: 'ok',
      databases: [
        { name: 'sqlite', state: 'ready' },
        { name: 'clickhouse', state: 'ready' },
        { name: 'usage.db', state: 'ready' },
      ],
    });
  },
);

describe.skipIf(TEST_POSTGRES_URL === undefined)(
  `on PostgreSQL${TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => {
    it('keeps acknowledged feedback through kill -9', async () => {
      const { url, drop: remove } = await createPostgresDatabase();
      drop = remove;
      await killWhileWriting(['--database-url', url]);
    });
  },
);
