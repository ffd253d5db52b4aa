// Feedback in ClickHouse, which has no transactions: consistency comes from one writer, row versions and blocks.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FeedbackStore, parseRows } from '@ortler/api';
import { bindFeedbackQuery, type FeedbackQuery } from '@ortler/feedback-query';
import { feedbackRow, type RunningChdb, startChdb, toRecord } from '@ortler/feedback-query/testing';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openClickHouse } from '../../src/db/clickhouse/open-clickhouse.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { openFeedback } from '../../src/stores/feedback/open-feedback.ts';
import { payloadIndexName } from '../../src/stores/feedback/payload-indexes.ts';
import { DATABASE_HOOK_TIMEOUT_MS } from '../databases.ts';
import { PROJECT, where } from './feedback-app.ts';
import { describeOnClickHouse, type FeedbackPlace, openOnClickHouse, TEST_CHDB } from './feedback-places.ts';

const record = (id: string, payload: Record<string, unknown> = {}, created_at = '2026-01-01T00:00:00.000Z') =>
  toRecord(feedbackRow({ id, payload, created_at }));
const idsOf = async (store: FeedbackStore, parts: Partial<FeedbackQuery> = {}) =>
  (await rowsOf(store, { fields: ['id'], ...parts })).map(({ id }) => id);
const rowsOf = async (store: FeedbackStore, parts: Partial<FeedbackQuery>) =>
  parseRows(await store.query(bindFeedbackQuery({ projectId: PROJECT, ...parts }), { maxBytes: 1_000_000 }));

// Statements wait for each other in the engine behind the bridge, and for the machine.
vi.setConfig({ testTimeout: 60_000 });

describeOnClickHouse('feedback', () => {
  let opened: Awaited<ReturnType<typeof openOnClickHouse>>;
  let place: FeedbackPlace;
  let store: FeedbackStore;
  beforeAll(async () => {
    opened = await openOnClickHouse();
    place = opened.place;
    store = place.store;
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(() => place.close(), DATABASE_HOOK_TIMEOUT_MS);

  const countParts = async () => {
    const sql = "SELECT count() AS parts FROM system.parts WHERE active AND table = 'feedback'";
    const [row] = await opened.raw.read(CompiledQuery.raw(sql) as CompiledQuery<{ parts: number }>);
    return row!.parts;
  };

  it('writes what comes at the same time in a few blocks', async () => {
    await place.clear();
    const created = Array.from({ length: 200 }, (_, index) => store.insert([record(`c${index}`)]));
    await Promise.all(created);
    expect((await idsOf(store)).length).toBe(200);
    expect(await countParts()).toBeLessThan(10);
  });

  it('shows a replaced row or its successor at any moment, never both and never none', async () => {
    await place.clear();
    await store.insert([record('r0')]);
    let isDone = false;
    const writing = (async () => {
      for (let number = 0; number < 30; number++) await store.replace(`r${number}`, record(`r${number + 1}`));
      isDone = true;
    })();
    while (!isDone) expect(await idsOf(store)).toHaveLength(1);
    await writing;
    expect(await idsOf(store)).toEqual(['r30']);
  }, 60_000);

  it('keeps an id through removal and return, also at the same millisecond, before and after merges', async () => {
    await place.clear();
    for (let time = 0; time < 3; time++) {
      await store.insert([record('x', { time })]);
      await store.delete(PROJECT, ['x']);
      expect(await idsOf(store)).toEqual([]);
    }
    await store.insert([record('x', { time: 9 })]);
    for (const merge of [async () => undefined, () => opened.raw.command('OPTIMIZE TABLE feedback FINAL')]) {
      await merge();
      expect(await rowsOf(store, { fields: ['payload.time'] })).toEqual([{ 'payload.time': 9 }]);
    }
  });

  it('gives the same rows by windows of time as by one scan', async () => {
    await place.clear();
    const rows = Array.from({ length: 12_000 }, (_, index) =>
      record(
        `w${String(index).padStart(5, '0')}`,
        { part: index % 3000 },
        new Date(1.76e12 + (index >> 2) * 1_000).toISOString(),
      ),
    );
    await store.insert(rows);
    await store.delete(PROJECT, ['w00000', 'w11999']);
    const alive = rows.filter(({ id }) => id !== 'w00000' && id !== 'w11999');
    for (const direction of ['asc', 'desc'] as const)
      for (const [offset, limit] of [
        [0, 3],
        [5_000, 10],
        [11_990, 100],
        [0, 10_000],
      ]) {
        const sorted = alive.toSorted(
          (a, b) =>
            (direction === 'asc' ? 1 : -1) * (a.created_at_ms - b.created_at_ms) || (a.id < b.id ? -1 : 1),
        );
        const sortBy = [{ field: 'created_at', direction }];
        const wanted = sorted.slice(offset!, offset! + limit!).map(({ id }) => id);
        expect(await idsOf(store, { sortBy, offset: offset!, limit: limit! })).toEqual(wanted);
        const rare = { ...where('payload.part', 7) };
        expect(await idsOf(store, { sortBy, limit: 3, query: rare })).toEqual(
          sorted
            .filter(({ payload_dump }) => payload_dump === '{"part":7}')
            .slice(0, 3)
            .map(({ id }) => id),
        );
      }
  }, 60_000);

  it.each([
    ['payload.label', 'text', 'l8'],
    ['payload.n', 'number', 8],
  ] as const)(
    'finds ids by the projection; passes over blocks by an index on %s as %s, and finds the same rows',
    async (path, reading, value) => {
      await place.clear();
      await store.insert(
        Array.from({ length: 20_000 }, (_, index) =>
          record(`i${index}`, { label: `l${index}`, n: index }, new Date(1.76e12 + index).toISOString()),
        ),
      );
      const lookup = `EXPLAIN indexes = 1 SELECT id, created_at, max(version) FROM feedback
      WHERE project_id = {p1:String} AND id IN {p2:Array(String)} GROUP BY id, created_at`;
      const plan = await opened.raw.read(CompiledQuery.raw(lookup, [PROJECT, ['i7', "it's"]]), {
        withReplaced: true,
      });
      expect(JSON.stringify(plan)).toMatch(/by_id.*Granules: 1\//);
      // A removed row in a block that the index passes over must stay removed.
      await store.delete(PROJECT, ['i9']);
      const query = where(path, value);
      const index = { path, reading };
      for (let time = 0; time < 2; time++) await place.indexes.create(index);
      const sql = `SELECT secondary_indices_compressed_bytes AS bytes FROM system.parts WHERE active AND table = 'feedback'`;
      const parts = await opened.raw.read(CompiledQuery.raw(sql) as CompiledQuery<{ bytes: number }>);
      expect(parts.every(({ bytes }) => bytes > 0)).toBe(true);
      expect(await idsOf(store, { query })).toEqual(['i8']);
      expect(await idsOf(store, { query: where(path, reading === 'text' ? 'l9' : 9) })).toEqual([]);
      for (let time = 0; time < 2; time++) await place.indexes.drop(index);
      const dropped = await opened.raw.read(
        CompiledQuery.raw('SELECT name FROM system.data_skipping_indices') as CompiledQuery<{ name: string }>,
      );
      expect(dropped.map(({ name }) => name)).not.toContain(payloadIndexName(index));
    },
  );

  it('does not let a reader write', async () => {
    await expect(opened.raw.read(CompiledQuery.raw("INSERT INTO feedback (id) SELECT 'x'"))).rejects.toThrow(
      /readonly/i,
    );
  });

  it('stops a scan at the time limit, and the next query is answered', async () => {
    const slow = await openClickHouse({ url: opened.url, queryTimeLimitMs: 200 });
    await expect(
      slow.read(CompiledQuery.raw('SELECT count() FROM numbers(100000000000)')),
    ).rejects.toMatchObject({ name: 'QueryTimeoutError' });
    expect(await slow.read(CompiledQuery.raw('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    await slow.close();
  });

  it('refuses an answer that is larger than a server holds', async () => {
    await expect(
      opened.raw.read(CompiledQuery.raw("SELECT repeat('x', 900000 + number) AS x FROM numbers(200)")),
    ).rejects.toMatchObject({ name: 'ResultTooLargeError' });
  });

  it('takes every hostile text as a parameter, long ones too', async () => {
    for (const text of ["'", '\\', "\\'", '\t\n\r\b', '{p1:String}', 'é👍', `${'\\'.repeat(20_000)}'`]) {
      const rows = await opened.raw.read(CompiledQuery.raw('SELECT {p1:String} AS text', [text]));
      expect(rows).toEqual([{ text }]);
    }
  });

  it('runs the widest expressions, or says that they are too wide for it', async () => {
    const widest = (operand: (index: number) => unknown) => ({
      query: { $expr: { $or: Array.from({ length: 600 }, (_, index) => operand(index)) } },
    });
    const path = new Array(8).fill('k'.repeat(60)).join('.');
    const field = (index: number) => ({ $getField: `payload.${path}.a${index}` });
    expect(
      await idsOf(
        store,
        widest(index => ({ $exists: field(index) })),
      ),
    ).toEqual([]);
    const withValues = widest(index => ({ $eq: [field(index), { $literal: `x${index}` }] }));
    await expect(idsOf(store, withValues)).rejects.toMatchObject({
      reason: 'invalid_parameter',
      message: expect.stringContaining('use fewer operators'),
    });
  });

  it('says which text is too long for it', async () => {
    const query = (text: string) => ({ query: where('payload.x', text) });
    expect(await idsOf(store, query('x'.repeat(65_536)))).toEqual([]);
    expect(await idsOf(store, query('\\'.repeat(65_536)))).toEqual([]);
    await expect(idsOf(store, query('漢'.repeat(65_536)))).rejects.toMatchObject({
      reason: 'invalid_parameter',
      message: expect.stringContaining('131072 bytes'),
    });
  });

  describe('of two servers', () => {
    it('stores one row when both create the same id at once, and one of two that differ', async () => {
      await place.clear();
      const folder = await mkdtemp(join(tmpdir(), 'ortler-two-'));
      const options = { dataDir: folder, clickhouseUrl: opened.url, queryTimeLimitMs: 30_000 };
      const databases = await Promise.all([openDatabase(options), openDatabase(options)]);
      const servers = await Promise.all(databases.map(database => openFeedback(database, options)));
      const results = await Promise.allSettled(
        Array.from({ length: 40 }, (_, index) =>
          servers[index % 2]!.store.insert([
            record(
              `id${index >> 2}`,
              { same: index >> 3 === 0 || index % 2 },
              new Date(1.76e12 + index).toISOString(),
            ),
          ]),
        ),
      );
      expect((await idsOf(store)).length).toBe(10);
      expect(results.slice(0, 8).map(({ status }) => status)).toEqual(new Array(8).fill('fulfilled'));
      expect(results.slice(8).filter(({ status }) => status === 'fulfilled')).toHaveLength(16);
      for (const server of servers) await server.close();
      for (const database of databases) await database.close();
      await rm(folder, { recursive: true });
    }, 60_000);
  });
});

describeOnClickHouse('a ClickHouse that fails', () => {
  let folder: string;
  let chdb: RunningChdb;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ortler-clickhouse-'));
    chdb = await startChdb(TEST_CHDB!, join(folder, 'clickhouse'));
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(async () => {
    await chdb.stop();
    await rm(folder, { recursive: true });
  });

  it('is named without its password when it does not answer', async () => {
    const failing = openClickHouse({ url: 'http://me:secret@127.0.0.1:1/x', queryTimeLimitMs: 100 });
    const error: unknown = await failing.catch(thrown => thrown);
    expect(error).toMatchObject({ name: 'DatabaseError', database: 'clickhouse' });
    expect((error as Error).message).toMatch('ClickHouse at http://me:***@127.0.0.1:1/x cannot be used: ');
    expect((error as Error).message).not.toContain('secret');
  });

  it('leaves one row when the answer of an insert is lost and the caller tries again', async () => {
    const proxy = await startLosingProxy(chdb.url);
    const options = { dataDir: join(folder, 'lost'), queryTimeLimitMs: 30_000 };
    const database = await openDatabase(options);
    const feedback = await openFeedback(database, { ...options, clickhouseUrl: proxy.url });
    proxy.loseNextInsert();
    const again = async () => {
      for (;;)
        try {
          return await feedback.store.insert([record('once', {}, new Date().toISOString())]);
        } catch (error) {
          expect(error).not.toMatchObject({ reason: 'conflict' });
        }
    };
    await again();
    expect(proxy.lostCount()).toBe(1);
    expect(await idsOf(feedback.store)).toEqual(['once']);
    await feedback.close();
    await database.close();
    await proxy.close();
  }, 60_000);

  it('has every acknowledged row after kill -9 in the middle of writes, and no half of a block', async () => {
    const options = { dataDir: join(folder, 'killed'), queryTimeLimitMs: 5_000 };
    const data = join(folder, 'killed-clickhouse');
    let engine = await startChdb(TEST_CHDB!, data);
    const database = await openDatabase(options);
    const feedback = await openFeedback(database, { ...options, clickhouseUrl: engine.url });
    const acknowledged: number[] = [];
    const writeAll = Array.from({ length: 40 }, async (_, wave) => {
      for (let turn = 0; turn < 10; turn++) {
        const number = wave * 10 + turn;
        await feedback.store.insert(
          ['a', 'b'].map(part => record(`n${number}-${part}`, { text: 'x'.repeat(2_000) })),
        );
        acknowledged.push(number);
        if (acknowledged.length === 100) engine.child.kill('SIGKILL');
      }
    });
    await Promise.allSettled(writeAll);
    expect(acknowledged.length).toBeGreaterThanOrEqual(100);
    expect(acknowledged.length).toBeLessThan(400);
    await feedback.close();

    engine = await startChdb(TEST_CHDB!, data);
    const after = await openFeedback(database, { ...options, clickhouseUrl: engine.url });
    const ids = new Set(await idsOf(after.store));
    for (const number of acknowledged) expect(ids).toContain(`n${number}-a`);
    for (const id of ids) expect(ids).toContain(String(id).replace(/.$/, last => (last === 'a' ? 'b' : 'a')));
    await after.close();
    await database.close();
    await engine.stop();
  }, 120_000);
});

/** A way to ClickHouse that passes one insert on and then cuts the connection instead of answering. */
async function startLosingProxy(target: string) {
  let isLosing = false;
  let lostCount = 0;
  const forward = (incoming: IncomingMessage, answer: ServerResponse) => {
    const isLost = isLosing && decodeURIComponent(incoming.url!).includes('INSERT');
    if (isLost) isLosing = false;
    const outgoing = request(
      new URL(incoming.url!, target),
      { method: incoming.method, headers: incoming.headers },
      reply => {
        if (isLost) {
          lostCount += 1;
          reply.resume();
          incoming.socket.destroy();
          return;
        }
        answer.writeHead(reply.statusCode!, reply.headers);
        reply.pipe(answer);
      },
    );
    incoming.pipe(outgoing);
  };
  const server = createServer(forward).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseNextInsert: () => {
      isLosing = true;
    },
    lostCount: () => lostCount,
    close: () => new Promise(resolve => server.close(resolve)),
  };
}
