// The fault table: a full disk, a damaged database, a lost data folder, a PostgreSQL server that restarts under load. Nothing that was
// acknowledged is lost, nothing that was lost is acknowledged, and /health tells the truth within two seconds of a fault and of
// its end. Dead and hanging models are in `resilience.test.ts`.

import { cp, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runs } from 'test-runs';
import { afterEach, expect, it } from 'vitest';
import { openDatabase } from '../../apps/server/src/db/open-database.ts';
import { addKey, removeKey } from '../../apps/server/src/stores/key-registry.ts';
import { createPostgresDatabase, TEST_POSTGRES_URL } from '../../apps/server/test/databases.ts';
import { createTeamKey } from '../../bench/server/team-key.ts';
import { startPostgresCluster } from '../../scripts/ci/postgres-cluster.mjs';
import { createNeighbour } from '../support/neighbour.ts';
import { makeServerFolder, type RunningServer, startServer } from '../support/server.ts';
import { canMountDisk, mountDisk } from '../support/small-disk.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const KEY = 'fault-key';
const PROJECT = 'acme/app';
/** How often each fault comes and goes. */
const ROUNDS = runs({ daily: 1, full: 2 });
const HEALTH_LIMIT_MS = 2_000;
/** Room for a request on a busy machine, beyond the two seconds. */
const SLACK_MS = 1_500;
const PATIENCE = { timeout: 20_000, interval: 50 };
/** The longest that one report and the pause before the next one take where nothing else does. */
const STEP_MS = 100;

let server: RunningServer | undefined;
let undo: (() => Promise<void>) | undefined;
afterEach(async () => {
  server?.child.kill('SIGKILL');
  await server?.exited;
  await undo?.();
  await server?.dispose();
  server = undefined;
  undo = undefined;
});

interface Answer {
  readonly status: number;
  readonly code: unknown;
  readonly retryAfter: string | null;
}

/** Stores one feedback item. */
async function create(id: string): Promise<Answer> {
  const reply = await fetch(`${server!.url}/feedback/create`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      project_id: PROJECT,
      weave_ref: 'weave:///acme/app/call/c',
      feedback_type: 'custom',
      id,
      payload: { text: 'x'.repeat(20_000) },
    }),
  });
  await reply.text();
  return { status: reply.status, code: reply.statusText, retryAfter: reply.headers.get('retry-after') };
}

function queryIds(offset: number): Promise<Response> {
  return fetch(`${server!.url}/feedback/query`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ project_id: PROJECT, fields: ['id'], limit: 100, offset }),
  });
}

async function storedIds(): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let offset = 0; ; offset += 100) {
    const { result } = (await (await queryIds(offset)).json()) as { result: { id: string }[] };
    for (const { id } of result) ids.add(id);
    if (result.length < 100) return ids;
  }
}

interface Health {
  readonly status: string;
  readonly disk: { readonly state: string };
  readonly databases: readonly { readonly name: string; readonly state: string }[];
}

async function health(): Promise<Health> {
  return (await (await fetch(`${server!.url}/health`)).json()) as Health;
}

/**
 * Waits until the report has this form, and checks how long that took. The parts of a step past `STEP_MS` are the machine's: a report
 * is a few milliseconds of work, and `resilience.test.ts` checks that it answers.
 */
async function healthBecomes(matches: (report: Health) => boolean): Promise<void> {
  let elapsedMs = 0;
  let report: Health;
  for (;;) {
    const fromMs = performance.now();
    report = await health();
    if (matches(report) || elapsedMs > 20_000) break;
    await wait(20);
    elapsedMs += Math.min(performance.now() - fromMs, STEP_MS);
  }
  expect(report).toSatisfy(matches);
  expect(elapsedMs).toBeLessThan(HEALTH_LIMIT_MS + SLACK_MS);
}

const start = async (folder: string, ...settings: readonly string[]) => {
  server = await startServer({ folder, arguments: ['--api-key', KEY, ...settings] });
};

it.skipIf(!canMountDisk)(
  `answers 503 on a full disk, keeps what it acknowledged, and goes on${canMountDisk ? '' : ' (skipped: needs root, to mount a small disk)'}`,
  { timeout: 240_000 },
  async () => {
    const folder = await makeServerFolder();
    const data = join(folder, 'data');
    await mkdir(data);
    const unmount = mountDisk(data, '48m');
    undo = async () => unmount();
    await start(folder, '--low-disk', '0');
    const neighbour = createNeighbour(server!.url, await createTeamKey(data, server!.url, 'beta'));
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await healthBecomes(({ status, disk }) => status === 'ok' && disk.state === 'ok');
      const filler = await open(join(data, 'filler'), 'w');
      const block = Buffer.alloc(1 << 20);
      try {
        for (;;) await filler.write(block);
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
      } finally {
        await filler.close();
      }
      await neighbour.beside(
        healthBecomes(({ status, disk }) => status === 'degraded' && disk.state === 'full'),
      );
      let refusedCount = 0;
      // The write-ahead log may still have room of its own for a few.
      for (let number = 0; refusedCount < 3 && number < 500; number++) {
        const id = `r${round}-n${number}`;
        const { status, retryAfter } = await create(id);
        if (status === 200) acknowledged.push(id);
        else {
          expect([status, retryAfter]).toEqual([503, '30']);
          refusedCount++;
        }
      }
      expect(refusedCount).toBe(3);
      await neighbour.callAll();
      await rm(join(data, 'filler'));
      await healthBecomes(({ status }) => status === 'ok');
      expect((await create(`after-${round}`)).status).toBe(200);
      acknowledged.push(`after-${round}`);
    }
    const stored = await storedIds();
    expect(acknowledged.filter(id => !stored.has(id))).toEqual([]);
    expect(server!.output().split('storage fault').length - 1).toBeLessThanOrEqual(2 + ROUNDS);
    expect(server!.output()).not.toContain('    at ');
  },
);

it('refuses writes after its data folder was removed, and goes on with a backup', {
  timeout: 240_000,
}, async () => {
  const folder = await makeServerFolder();
  const data = join(folder, 'data');
  const backup = join(folder, 'backup');
  await start(folder);
  for (let round = 0; round < ROUNDS; round++) {
    expect((await create(`kept-${round}`)).status).toBe(200);
    await rm(backup, { recursive: true, force: true });
    await cp(data, backup, { recursive: true });
    // Under load: what is answered 200 was stored before the folder went.
    const answers = Promise.all(Array.from({ length: 20 }, (_, number) => create(`r${round}-n${number}`)));
    await rm(data, { recursive: true, force: true, maxRetries: 3 });
    await answers;
    expect((await create('lost')).status).toBe(503);
    await healthBecomes(
      ({ status, disk, databases }) =>
        status === 'degraded' && disk.state === 'missing' && databases[0]?.state === 'lost',
    );
    expect((await fetch(`${server!.url}/health/ready`)).status).toBe(503);
    expect((await fetch(`${server!.url}/health/live`)).status).toBe(200);
    await rename(backup, data);
    await healthBecomes(({ status }) => status === 'ok');
    expect((await fetch(`${server!.url}/health/ready`)).status).toBe(200);
    expect((await create(`back-${round}`)).status).toBe(200);
  }
  const stored = await storedIds();
  for (let round = 0; round < ROUNDS; round++) expect(stored).toContain(`kept-${round}`);
  expect(stored).not.toContain('lost');
});

it('does not start on a damaged database or one that lost its content, and says why', {
  timeout: 240_000,
}, async () => {
  const folder = await makeServerFolder();
  const backup = `${folder}-backup`;
  undo = async () => {
    for (const path of [folder, backup]) await rm(path, { recursive: true, force: true });
  };
  await start(folder);
  const acknowledged: string[] = [];
  for (let number = 0; number < 30; number++)
    if ((await create(`n${number}`)).status === 200) acknowledged.push(`n${number}`);
  server!.child.kill('SIGTERM');
  await server!.exited;
  await rename(folder, backup);
  const file = join(folder, 'data', 'ortler.db');
  for (let round = 0; round < ROUNDS; round++) {
    // A failed start removes its folder.
    await cp(backup, folder, { recursive: true });
    const bytes = await readFile(file);
    // Half of the file, from another place each time.
    const at = Math.floor((bytes.length / 2) * (round / ROUNDS));
    await writeFile(file, bytes.fill(0xa5, at, at + bytes.length / 2));
    await expect(start(folder)).rejects.toThrow(/the file is damaged.*restore it from a backup/s);
  }
  await cp(backup, folder, { recursive: true });
  await writeFile(file, '');
  await expect(start(folder)).rejects.toThrow('ortler.db is empty, where a database was expected');
  await cp(backup, folder, { recursive: true });
  await start(folder);
  expect(await storedIds()).toEqual(new Set(acknowledged));
});

it('stops writes into a database that is damaged under it, keeps what it acknowledged, and goes on once it is sound', {
  timeout: 240_000,
}, async () => {
  const folder = await makeServerFolder();
  await start(folder);
  const acknowledged: string[] = [];
  // More than the write-ahead log keeps, so that statements read the file.
  for (let number = 0; number < 300; number++) {
    expect((await create(`n${number}`)).status).toBe(200);
    acknowledged.push(`n${number}`);
  }
  const file = join(folder, 'data', 'ortler.db');
  for (let round = 0; round < ROUNDS; round++) {
    const repair = await damagePages(file);
    const noticed = healthBecomes(
      ({ status, databases }) => status === 'degraded' && databases[0]?.state === 'corrupt',
    );
    let refusedCount = 0;
    for (let number = 0; refusedCount < 3 && number < 500; number++) {
      // Damage shows where a statement meets it.
      if (refusedCount === 0) expect([200, 503]).toContain((await queryIds(0)).status);
      const id = `r${round}-n${number}`;
      const { status, retryAfter } = await create(id);
      if (status === 200) acknowledged.push(id);
      else {
        expect([status, retryAfter]).toEqual([503, '30']);
        refusedCount++;
      }
    }
    expect(refusedCount).toBe(3);
    await noticed;
    await repair();
    await healthBecomes(({ status }) => status === 'ok');
    expect((await create(`after-${round}`)).status).toBe(200);
    acknowledged.push(`after-${round}`);
  }
  const stored = await storedIds();
  expect(acknowledged.filter(id => !stored.has(id))).toEqual([]);
});

/** Damages all pages but the first. Returns what puts back those that were not written since. */
async function damagePages(file: string): Promise<() => Promise<void>> {
  const PAGE = 4_096;
  const sound = await readFile(file);
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(sound.length - PAGE, 0xa5), 0, sound.length - PAGE, PAGE);
  await handle.close();
  return async () => {
    const now = await readFile(file);
    const again = await open(file, 'r+');
    for (let at = PAGE; at < sound.length; at += PAGE)
      if (now.subarray(at, at + PAGE).every(byte => byte === 0xa5)) await again.write(sound, at, PAGE, at);
    await again.close();
  };
}

it('names the file of usage in health, does not start on a damaged one, and loses nothing else without it', {
  timeout: 120_000,
}, async () => {
  const folder = await makeServerFolder();
  undo = () => rm(folder, { recursive: true, force: true });
  await start(folder);
  expect((await health()).databases).toMatchObject([
    { name: 'sqlite', state: 'ready' },
    { name: 'usage.db', state: 'ready' },
  ]);
  expect((await create('kept')).status).toBe(200);
  server!.child.kill('SIGTERM');
  await server!.exited;
  const file = join(folder, 'data', 'usage.db');
  await writeFile(file, Buffer.alloc(8_192, 0xa5));
  // The failed start removes its folder.
  await cp(folder, `${folder}-copy`, { recursive: true });
  await expect(start(folder)).rejects.toThrow(
    /usage\.db: the file is damaged.*only the counts of usage are lost/s,
  );
  await rename(`${folder}-copy`, folder);
  for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
  await start(folder);
  expect(await storedIds()).toEqual(new Set(['kept']));
});

it('reports a file of usage that is gone, and answers on', {
  timeout: 120_000,
}, async () => {
  await start(await makeServerFolder());
  const file = join(server!.folder, 'data', 'usage.db');
  const chat = () =>
    fetch(`${server!.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'x' }], max_tokens: 1 }),
    });
  expect((await chat()).status).toBe(200);
  await rename(file, `${file}.away`);
  await healthBecomes(({ status, databases }) => status === 'degraded' && databases[1]?.state === 'lost');
  expect((await chat()).status).toBe(200);
  expect((await create('written')).status).toBe(200);
  expect((await fetch(`${server!.url}/health/ready`)).status).toBe(200);
  await rename(`${file}.away`, file);
  await healthBecomes(({ status }) => status === 'ok');
});

/** A proxy that can cut and freeze connections, before a database of its own. */
async function openProxy() {
  const database = await createPostgresDatabase();
  const url = new URL(database.url);
  const proxy = await startTcpProxy(url.hostname, Number(url.port));
  undo = async () => {
    await proxy.close();
    await database.drop();
  };
  url.port = String(proxy.port);
  url.hostname = '127.0.0.1';
  return { proxy, url, databaseUrl: database.url };
}

/** Starts the server on such a database. */
async function startBehindProxy(...settings: readonly string[]) {
  const opened = await openProxy();
  await start(await makeServerFolder(), '--database-url', opened.url.href, ...settings);
  return opened;
}

it.skipIf(TEST_POSTGRES_URL === undefined)(
  `says in two lines why it does not start on a PostgreSQL that refuses some connections${TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  { timeout: 120_000 },
  async () => {
    const { proxy, url } = await openProxy();
    // A parameter of readers, which a pooler between may refuse.
    proxy.cutOnceAt('statement_timeout', 'before');
    const started = start(await makeServerFolder(), '--database-url', url.href);
    await expect(started).rejects.toThrow(
      /ended early:\nThe database postgres:\S+ cannot be used: Connection terminated.*\nChoose another with DATABASE_URL\.\n$/,
    );
  },
);

it.skipIf(TEST_POSTGRES_URL === undefined)(
  `ends every answer while PostgreSQL hangs, and keeps what it acknowledged${TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  { timeout: 240_000 },
  async () => {
    const { proxy } = await startBehindProxy();
    expect((await create('before')).status).toBe(200);
    proxy.freeze();
    await healthBecomes(({ databases }) => databases[0]?.state === 'unreachable');
    const chat = await fetch(`${server!.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'x' }], max_tokens: 1 }),
    });
    expect(chat.status).toBe(200);
    await chat.json();
    const hanging = await Promise.all(Array.from({ length: 12 }, (_, number) => create(`hanging-${number}`)));
    expect(new Set(hanging.map(({ status }) => status))).toEqual(new Set([503]));
    proxy.restore();
    await healthBecomes(({ status }) => status === 'ok');
    expect((await create('after')).status).toBe(200);
    const stored = await storedIds();
    expect(stored).toContain('before');
    expect(stored).toContain('after');
  },
);

it.skipIf(TEST_POSTGRES_URL === undefined)(
  `goes on with PostgreSQL on another machine, while the old connections say nothing${TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  { timeout: 240_000 },
  async () => {
    const { proxy, databaseUrl } = await startBehindProxy('--query-time-limit-ms', '1000');
    const other = await openDatabase({ dataDir: '', databaseUrl, queryTimeLimitMs: 30_000 });
    const { id, key } = await addKey(other, { name: 'removed meanwhile', team: null }, Date.now());
    const models = () => fetch(`${server!.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await expect.poll(async () => (await models()).status, PATIENCE).toBe(200);
    await healthBecomes(({ databases }) => databases[0]?.state === 'ready');
    proxy.abandon();
    await healthBecomes(({ databases }) => databases[0]?.state === 'unreachable');
    await healthBecomes(({ databases }) => databases[0]?.state === 'ready');
    // A reading of keys that hangs ends five seconds after its time limit, and the next one may meet another connection of old.
    await removeKey(other, id);
    await other.close();
    await expect.poll(async () => (await models()).status, { timeout: 60_000, interval: 100 }).toBe(401);
  },
);

it.skipIf(TEST_POSTGRES_URL === undefined)(
  `counts usage once when PostgreSQL is lost at its commit${TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  { timeout: 240_000 },
  async () => {
    const { proxy, url } = await startBehindProxy();
    const call = async (path: string, body?: object) => {
      const reply = await fetch(server!.url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      });
      expect(reply.status).toBe(200);
      return (await reply.json()) as { data: { results: { num_model_requests: number }[] }[] };
    };
    const chat = () =>
      call('/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }], max_tokens: 1 });
    const countedRequests = async () => {
      const start = Math.floor(Date.now() / 1_000) - 86_400;
      const { data } = await call(`/v1/organization/usage/completions?start_time=${start}`);
      return data.flatMap(({ results }) => results).reduce((sum, each) => sum + each.num_model_requests, 0);
    };
    let sentCount = 0;
    for (let round = 0; round < ROUNDS; round++) {
      proxy.cutOnceAt('commit', round % 2 === 0 ? 'after' : 'before');
      await Promise.all([chat(), chat(), chat()]);
      sentCount += 3;
      // The batch is written again after a second.
      await expect.poll(countedRequests, { timeout: 10_000, interval: 50 }).toBeGreaterThanOrEqual(sentCount);
      expect(proxy.trappedCount).toBe(round + 1);
      expect(await countedRequests()).toBe(sentCount);
    }
    // With what is written at the end.
    server!.child.kill('SIGTERM');
    await server!.exited;
    await start(server!.folder, '--database-url', url.href);
    expect(await countedRequests()).toBe(sentCount);
  },
);

/** Eight writers at once, while `disturb` happens a few times: nothing that was acknowledged is lost. */
async function keepsAcknowledgedWritesWhile(disturb: () => Promise<void>): Promise<void> {
  const acknowledged: string[] = [];
  let isWriting = true;
  const statuses = new Set<number>();
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let number = 0; isWriting; number++) {
      const id = `w${writer}-n${number}`;
      const { status } = await create(id);
      statuses.add(status);
      if (status === 200) acknowledged.push(id);
      else await wait(20);
    }
  });
  for (let round = 0; round < ROUNDS; round++) {
    await wait(300);
    await disturb();
  }
  isWriting = false;
  await Promise.all(writers);
  expect([...statuses].sort()).toEqual([200, 503]);
  const stored = await storedIds();
  expect(acknowledged.filter(id => !stored.has(id))).toEqual([]);
}

it.skipIf(TEST_POSTGRES_URL === undefined)(
  `keeps what it acknowledged while a PostgreSQL server is restarted under load${TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  { timeout: 600_000 },
  async () => {
    const cluster = await startPostgresCluster();
    undo = () => cluster.stop();
    await start(await makeServerFolder(), '--database-url', cluster.url);
    await keepsAcknowledgedWritesWhile(async () => {
      await cluster.restart();
      await healthBecomes(({ status }) => status === 'ok');
    });
  },
);

it.skipIf(TEST_POSTGRES_URL === undefined)(
  `keeps what it acknowledged while PostgreSQL restarts under load${TEST_POSTGRES_URL === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  { timeout: 240_000 },
  async () => {
    const { proxy } = await startBehindProxy();
    await keepsAcknowledgedWritesWhile(async () => {
      proxy.cut();
      await healthBecomes(
        ({ status, databases }) => status === 'degraded' && databases[0]?.state === 'unreachable',
      );
      proxy.restore();
      await healthBecomes(({ status }) => status === 'ok');
    });
  },
);
