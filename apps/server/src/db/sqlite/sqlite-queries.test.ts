import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bindFeedbackQuery } from '@ortler/feedback-query';
import { feedbackRow, toRecord } from '@ortler/feedback-query/testing';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFeedbackStore } from '../../stores/feedback/feedback-store.ts';
import type { Database } from '../database.ts';
import { openSqlite } from './open-sqlite.ts';

let folder: string;
let database: Database;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-queries-'));
  database = await openSqlite(folder, 60_000);
  const row = `'a/b', 'w', 'u', '2026-01-01T00:00:00.000Z', 't', json_object('text', printf('%.*c', 20000, 'x'))`;
  await database.db.executeQuery(
    CompiledQuery.raw(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
       insert into feedback (id, project_id, weave_ref, wb_user_id, created_at, feedback_type, payload_dump,
         scorer_tags, scorer_tag_reasons, scorer_tag_confidences, scorer_ratings, scorer_rating_reasons,
         scorer_rating_confidences, span_agent_name, span_agent_version, span_status_code, span_conversation_id,
         span_trace_id, scorer_trace_id)
       select 'r' || i, ${row}, '[]', '{}', '{}', '{}', '{}', '{}', '', '', '', '', '', '' from n`,
    ),
  );
}, 60_000);
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

/** Hundreds of searches through each payload: many seconds in all. */
const needles = Array.from({ length: 900 }, (_, i) => `instr(payload_dump, 'xxxxxxxxxxxxxxxxxxxy${i}')`);
const SLOW = CompiledQuery.raw(`select count(*) as n from guarded_feedback where ${needles.join(' + ')} > 0`);
const columns = [{ key: 'id', column: 'c0', form: 'text' }] as const;

it('stops a query in the database when its caller leaves, and keeps the thread', async () => {
  const leaving = new AbortController();
  const slow = database.queries.readRows(SLOW, leaving.signal);
  const quick = () => database.queries.readRows(CompiledQuery.raw('select 1 as one'));
  await quick();
  // It runs meanwhile: an early failure would be an error of its own.
  await new Promise(resolve => setTimeout(resolve, 200));
  const start = performance.now();
  leaving.abort(new Error('left'));
  await expect(slow).rejects.toThrow('left');
  // The whole query takes several times as long, and more where the machine is slow.
  expect(performance.now() - start).toBeLessThan(4_000);
  expect(await quick()).toEqual([{ one: 1 }]);
});

// The threads of queries have a low priority, so beside other tests they take several times as long.
it('stops a query inside a single row, and takes no minutes for one', { timeout: 60_000 }, async () => {
  const store = createFeedbackStore(database);
  const text = 'x'.repeat(10_000_000);
  await store.insert([toRecord(feedbackRow({ id: 'long', payload: { text } }))]);
  const search = (count: number, length: number, signal?: AbortSignal) => {
    const $or = Array.from({ length: count }, (_, index) => ({
      $contains: {
        input: { $getField: 'payload.text' },
        substr: { $literal: `${'x'.repeat(length)}y${index}` },
      },
    }));
    const query = bindFeedbackQuery({ projectId: 'acme/app', query: { $expr: { $or } } });
    return store.query(query, { maxBytes: 1_000, ...(signal !== undefined && { signal }) });
  };
  const leaving = new AbortController();
  // Seconds in all, of which the first milliseconds are over when the caller leaves.
  const slow = search(400, 127, leaving.signal);
  await new Promise(resolve => setTimeout(resolve, 100));
  leaving.abort(new Error('left'));
  await expect(slow).rejects.toThrow('left');
  // Nothing of it is left: four connections answer at once.
  const quick = () => database.queries.readRows(CompiledQuery.raw('select 1 as one'));
  expect(await Promise.all([1, 2, 3, 4].map(quick))).toHaveLength(4);
  // A search that compared the whole needle in each place would take half a minute for each of them.
  expect(await search(4, 60_000)).toMatchObject({ rowCount: 0 });
});

it('starts nothing for a caller who has left already', async () => {
  const signal = AbortSignal.abort(new Error('left'));
  await expect(database.queries.readRows(SLOW, signal)).rejects.toThrow('left');
});

it('reads a page off the event loop and cuts it by its bytes', async () => {
  const statement = CompiledQuery.raw('select id as c0, id as s0 from feedback order by rowid');
  const page = await database.queries.readPage(statement, { columns, maxBytes: 40 });
  expect(Buffer.from(page.text).toString()).toBe('[{"id":"r1"},{"id":"r2"},{"id":"r3"}]');
  expect(page).toMatchObject({ rowCount: 3, isCut: true, lastRow: { s0: 'r3' } });
});

it('delays no other read by slow queries', async () => {
  const leaving = new AbortController();
  const slow = [1, 2, 3, 4].map(() => database.queries.readRows(SLOW, leaving.signal));
  const all = Promise.allSettled(slow);
  await database.reader.selectFrom('api_keys').select('id').execute();
  leaving.abort(new Error('left'));
  await all;
  for (const query of slow) await expect(query).rejects.toThrow('left');
});
