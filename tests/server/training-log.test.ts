// Logged trajectories and the real server, on SQLite and, where TEST_POSTGRES_URL names one, on PostgreSQL: large bodies in
// little memory, and nothing lost when the process dies. LOG_MEGABYTES sets the size of the large body (default 16).

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgresDatabase, TEST_POSTGRES_URL } from '../../apps/server/test/databases.ts';
import { makeServerFolder, type RunningServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

const MEBIBYTE = 1024 * 1024;
const LOG_BYTES = Number(process.env.LOG_MEGABYTES ?? 16) * MEBIBYTE;
/** Most that the process may grow while it takes a large body. Unit: bytes. */
const MAX_GROWTH = 200 * MEBIBYTE;

/** A trajectory with log probabilities, about 50 kB. */
function largeTrajectory(index: number): string {
  const content = Array.from({ length: 400 }, (_, position) => ({
    token: `token ${position}`,
    logprob: -position / (index + 2),
    bytes: [1, 2, 3],
    top_logprobs: [{ token: 'other', logprob: -1.5, bytes: [4, 5] }],
  }));
  const choice = {
    index: 0,
    finish_reason: 'stop',
    message: { role: 'assistant', content: 'x' },
    logprobs: { content },
  };
  return JSON.stringify({
    messages_and_choices: [{ role: 'user', content: 'go' }, choice],
    reward: index % 2,
  });
}

/** One group of `count` trajectories, as bytes that are made while they are sent. */
async function* logBody(count: number, last = 'null'): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode('{"trajectory_groups":[{"trajectories":[');
  for (let index = 0; index < count; index++)
    yield encoder.encode((index === 0 ? '' : ',') + largeTrajectory(index));
  yield encoder.encode(`]}],"split":"train","ignored":${last}}`);
}

/** A value of /proc/<pid>/status. Unit: bytes. */
function memoryOf({ child }: RunningServer, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) * 1024;
}

interface Place {
  /** Flags that name the database. */
  readonly settings: readonly string[];
  drop(): Promise<void>;
}

const onSqlite = async (): Promise<Place> => ({ settings: [], drop: async () => undefined });
const onPostgres = async (): Promise<Place> => {
  const { url, drop } = await createPostgresDatabase();
  return { settings: ['--database-url', url], drop };
};

describe('logged trajectories on SQLite', () => suite(onSqlite));
const reason = TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : '';
describe.skipIf(TEST_POSTGRES_URL === undefined)(`logged trajectories on PostgreSQL${reason}`, () =>
  suite(onPostgres),
);

function suite(makePlace: () => Promise<Place>): void {
  let folder: string;
  let place: Place;
  let server: RunningServer;
  let apiKey: string;
  const start = () => startTinyServer({ folder, arguments: place.settings });
  const killAndStartAgain = async () => {
    server.child.kill('SIGKILL');
    expect(await server.exited).toBe('SIGKILL');
    server = await start();
  };

  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${server.url}/v1/preview/models${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
  const send = (model: string, body: AsyncIterable<Uint8Array>) =>
    fetch(`${server.url}/v1/preview/models/${model}/log`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: ReadableStream.from(body),
      duplex: 'half',
    } as RequestInit);
  const createModel = async (name: string) => {
    const reply = await call('POST', '', { name, base_model: 'a', return_existing: true });
    return ((await reply.json()) as { id: string }).id;
  };
  const exported = async (model: string) => {
    const text = await (await call('GET', `/${model}/trajectories/export`)).text();
    return text === '' ? [] : text.trimEnd().split('\n');
  };

  beforeAll(async () => {
    folder = await makeServerFolder();
    place = await makePlace();
    server = await start();
    apiKey = server.apiKey;
  });
  afterAll(async () => {
    await server?.dispose();
    await place?.drop();
  });

  test('a large body grows the server by less than 200 MB, and survives a kill -9 right after the 200', async () => {
    const model = await createModel('large');
    const count = Math.ceil(LOG_BYTES / largeTrajectory(0).length);
    // What a first call loads is not what a large one needs.
    await send(model, logBody(1));
    const before = memoryOf(server, 'VmRSS');
    // Source: proc(5), 5 resets the peak to what is used now.
    writeFileSync(`/proc/${server.child.pid}/clear_refs`, '5');
    const startedAtMs = performance.now();
    const reply = await send(model, logBody(count));
    const seconds = (performance.now() - startedAtMs) / 1000;
    expect(reply.status).toBe(200);
    const growth = memoryOf(server, 'VmHWM') - before;
    console.log(
      `log of ${Math.round(LOG_BYTES / MEBIBYTE)} MiB: ${Math.round(growth / MEBIBYTE)} MiB more memory, ${seconds.toFixed(1)} s`,
    );
    await killAndStartAgain();
    expect(await reply.json()).toMatchObject({ groups: 1, trajectories: count });
    expect(growth).toBeLessThan(MAX_GROWTH);

    const lines = await exported(model);
    expect(lines).toHaveLength(count + 1);
    const last = JSON.parse(lines.at(-1)!) as { trajectory: unknown };
    expect(last.trajectory).toEqual(JSON.parse(largeTrajectory(count - 1)));
  });

  test('a fault at the end of a large body leaves nothing', async () => {
    const model = await createModel('faulty');
    const reply = await send(model, logBody(40, 'x'));
    expect(reply.status).toBe(422);
    expect(await exported(model)).toEqual([]);
  });

  test('what was acknowledged is there after the process was killed, and no half of what was not', async () => {
    const model = await createModel('killed');
    const acknowledged: string[] = [];
    const isStopping = { now: false };
    const client = async (name: number) => {
      for (let turn = 0; !isStopping.now; turn++) {
        const metadata = { name: `${name}-${turn}` };
        const trajectories = [{ metadata }, { metadata }, { metadata }];
        const reply = await call('POST', `/${model}/log`, {
          split: 'train',
          trajectory_groups: [{ trajectories }],
        });
        if (reply.status === 200) acknowledged.push(metadata.name);
      }
    };
    const clients = [0, 1, 2, 3].map(name => client(name).catch(() => undefined));
    while (acknowledged.length < 40) await new Promise(resolve => setTimeout(resolve, 10));
    isStopping.now = true;
    await killAndStartAgain();
    await Promise.all(clients);

    const counts = new Map<string, number>();
    for (const line of await exported(model)) {
      const { trajectory } = JSON.parse(line) as { trajectory: { metadata: { name: string } } };
      counts.set(trajectory.metadata.name, (counts.get(trajectory.metadata.name) ?? 0) + 1);
    }
    for (const name of acknowledged) expect(counts.get(name)).toBe(3);
    expect(new Set(counts.values())).toEqual(new Set([3]));
  });
}
