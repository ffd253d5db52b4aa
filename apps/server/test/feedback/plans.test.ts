// The usual questions use an index: the plans of SQLite and of a real PostgreSQL name it.

import {
  bindFeedbackQuery,
  compileFeedbackQuery,
  compilePayloadSampleQuery,
  type FeedbackQuery,
  postgresDialect,
  sqliteDialect,
} from '@ortler/feedback-query';
import { feedbackRow, toRecord } from '@ortler/feedback-query/testing';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { guardedName } from '../../src/db/sqlite/guarded-tables.ts';
import { createFeedbackStore } from '../../src/stores/feedback/feedback-store.ts';
import {
  createPayloadIndex,
  dropPayloadIndex,
  payloadIndexName,
} from '../../src/stores/feedback/payload-indexes.ts';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from '../databases.ts';
import { PROJECT, where } from './feedback-app.ts';

const ROW_COUNT = 6_000;
const NEWEST = [{ field: 'created_at', direction: 'desc' as const }];
const above = (field: string, value: number) => ({
  $expr: { $gt: [{ $getField: field }, { $literal: value }] },
});

const among = (field: string, values: readonly string[]) => ({
  $expr: { $in: [{ $getField: field }, values.map(value => ({ $literal: value }))] },
});
const REFS = Array.from({ length: 20 }, (_, index) => `weave:///c${index}`);

const PLANS: [string, Partial<FeedbackQuery>, RegExp][] = [
  ['the newest rows', { sortBy: NEWEST, limit: 100 }, /feedback_newest/],
  ['the first rows', { limit: 100 }, /feedback_newest/],
  [
    'the newest rows of a payload filter',
    { query: above('payload.score', 0.5), sortBy: NEWEST, limit: 100 },
    /feedback_newest/,
  ],
  ['rows of a type', { query: where('feedback_type', 't3'), limit: 100 }, /feedback_by_type/],
  ['a count of a type', { fields: ['count(*)'], query: where('feedback_type', 't3') }, /feedback_by_type/],
  ['rows about one thing', { query: where('weave_ref', 'weave:///c3') }, /feedback_by_subject/],
  ['rows about several things', { query: among('weave_ref', REFS) }, /feedback_by_subject/],
  [
    'rows about one or another thing',
    { query: { $expr: { $or: REFS.slice(0, 2).map(ref => where('weave_ref', ref).$expr) } }, limit: 100 },
    /feedback_by_subject/,
  ],
  ['one row', { query: where('id', 'r00007') }, /feedback_key|sqlite_autoindex_feedback_1/],
  [
    'several rows',
    { query: among('id', ['r00007', 'r00008', 'r00009']) },
    /feedback_key|sqlite_autoindex_feedback_1/,
  ],
];

describeOnEveryDatabase('plans', ({ name, open }) => {
  const isSqlite = name === 'sqlite';
  let database: Database;
  beforeAll(async () => {
    database = await open();
    const rows = Array.from({ length: ROW_COUNT }, (_, index) =>
      feedbackRow({
        id: `r${String(index).padStart(5, '0')}`,
        project_id: index % 2 === 0 ? PROJECT : 'acme/other',
        weave_ref: `weave:///c${index % 500}`,
        feedback_type: `t${index % 20}`,
        trigger_ref: `trigger${index % 300}`,
        created_at: new Date(1.76e12 + index * 1_000).toISOString(),
        payload: { score: (index % 1_000) / 1_000, label: `l${index % 1_500}`, text: 'x'.repeat(200) },
      }),
    );
    await createFeedbackStore(database).insert(rows.map(toRecord));
    // SQLite has the statistics that it is made with.
    if (!isSqlite) await sql`analyze feedback`.execute(database.db);
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(() => database.close(), DATABASE_HOOK_TIMEOUT_MS);

  const dialect = isSqlite ? sqliteDialect : postgresDialect;
  const options = { tableName: isSqlite ? guardedName('feedback') : 'feedback' };
  // The plan of a statement that just ran on this connection. SQLite compares a connection's schema with the file only
  // when a statement runs, and then plans it anew; EXPLAIN alone would show the plan of a schema that is gone.
  const explain = (statement: CompiledQuery) =>
    database.reader.connection().execute(async connection => {
      await connection.executeQuery(statement);
      const text = `${isSqlite ? 'explain query plan' : 'explain'} ${statement.sql}`;
      const { rows } = await connection.executeQuery(CompiledQuery.raw(text, [...statement.parameters]));
      return rows.map(row => Object.values(row as object).join(' ')).join('\n');
    });
  const planOf = (parts: Partial<FeedbackQuery>) =>
    explain(
      compileFeedbackQuery(
        bindFeedbackQuery({ projectId: PROJECT, fields: ['id'], ...parts }),
        dialect,
        options,
      ).statement,
    );

  it.each(PLANS)('of %s', async (_name, parts, index) => {
    const plan = await planOf(parts);
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/Seq Scan|SCAN main\.feedback/);
  });

  it('of a deep page start at its cursor', async () => {
    const after = ['2025-10-09T09:20:00.000Z', 'r00007'];
    const plan = await planOf({ after, withCursor: true, limit: 100 });
    expect(plan).toMatch(
      isSqlite ? /feedback_newest \(project_id=\? AND created_at>\?\)/ : /Index Cond: .*created_at >=/,
    );
  });

  it('of a payload schema of one trigger', async () => {
    const sample = compilePayloadSampleQuery(
      { projectId: PROJECT, startMs: 0, endMs: 2e12, triggerRef: 'trigger4' },
      dialect,
      options,
    );
    expect(await explain(sample)).toMatch(/feedback_by_trigger/);
  });

  describe('payload indexes', () => {
    const cases = [
      ['payload.label', 'text', where('payload.label', 'l8')],
      ['payload.score', 'number', where('payload.score', 0.25)],
      ['payload.deep.f.1.x', 'text', where('payload.deep.f.1.x', 'y')],
    ] as const;
    it.each(cases)('of %s as %s serve filters with such a literal', async (path, reading, query) => {
      const index = { path, reading };
      const before = await database.reader.executeQuery(
        compileFeedbackQuery(bindFeedbackQuery({ projectId: PROJECT, query }), dialect, options).statement,
      );
      await createPayloadIndex(database, index);
      await createPayloadIndex(database, index);
      expect(await planOf({ query })).toContain(payloadIndexName(index));
      expect(await planOf({ query: among('id', ['r00007', 'r00008']) })).not.toContain('feedback_payload');
      const after = await database.reader.executeQuery(
        compileFeedbackQuery(bindFeedbackQuery({ projectId: PROJECT, query }), dialect, options).statement,
      );
      expect(after.rows).toEqual(before.rows);
      await dropPayloadIndex(database, index);
      expect(await planOf({ query })).not.toContain(payloadIndexName(index));
    });

    it.runIf(name === 'postgres')('are not left unfinished by texts that are too long for them', async () => {
      const digits = Array.from({ length: 2_000 }, (_, index) => (index * index * 7_919).toString(36));
      const row = feedbackRow({ id: 'long', payload: { essay: digits.join('') } });
      const store = createFeedbackStore(database);
      await store.insert([toRecord(row)]);
      const index = { path: 'payload.essay', reading: 'text' } as const;
      for (let time = 0; time < 2; time++)
        await expect(createPayloadIndex(database, index)).rejects.toThrow(/payload\.essay .* 2,600 bytes/);
      await store.delete(row.project_id, ['long']);
      await createPayloadIndex(database, index);
      await expect(store.insert([toRecord(row)])).rejects.toMatchObject({ reason: 'invalid_parameter' });
      await dropPayloadIndex(database, index);
    });

    it.each(['id', 'payload', "payload.it's", 'payload.a b', 'payload.a"b', 'nope'])(
      'are refused on %s',
      async path => {
        await expect(createPayloadIndex(database, { path, reading: 'text' })).rejects.toMatchObject({
          name: 'QueryError',
        });
      },
    );
  });
});

describe('the time limit', () => {
  describeOnEveryDatabase('of a query', ({ name, open }) => {
    it.skipIf(name === 'pglite')(
      'stops a scan, and the next query is answered',
      async () => {
        const database = await open({ queryTimeLimitMs: 100 });
        const store = createFeedbackStore(database);
        const rows = Array.from({ length: 4_000 }, (_, index) =>
          feedbackRow({ id: `r${index}`, payload: { text: `${'x'.repeat(5_000)}${index}` } }),
        );
        await store.insert(rows.map(toRecord));
        // Twelve hundred searches through each payload.
        const needles = Array.from({ length: 600 }, (_, index) => ({
          $contains: {
            input: { $getField: 'payload.text' },
            substr: { $literal: `${'x'.repeat(200)}${index}y` },
          },
        }));
        const slow = bindFeedbackQuery({ projectId: PROJECT, query: { $expr: { $or: needles } } });
        await expect(store.query(slow, { maxBytes: 1_000 })).rejects.toMatchObject({
          reason: 'query_timeout',
        });
        const quick = bindFeedbackQuery({ projectId: PROJECT, fields: ['id'], limit: 1 });
        expect((await store.query(quick, { maxBytes: 1_000 })).rowCount).toBe(1);
        await database.close();
      },
      60_000,
    );
  });
});
