import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDatabaseFile } from './create-database-file.ts';
import { createThreadDialect } from './thread-dialect.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-dialect-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('ends the thread of a statement that still ran when the database was closed, once it has its answer', async () => {
  await createDatabaseFile(join(folder, 'x.db'));
  const connection = { file: join(folder, 'x.db') };
  const db = new Kysely<object>({ dialect: createThreadDialect({ thread: connection, threadCount: 1 }) });
  const started = once(process, 'worker') as Promise<[Worker]>;
  await sql`create table t (a integer)`.execute(db);
  const [thread] = await started;
  const ended = once(thread, 'exit');
  const counting = sql<{ count: number }>`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) select count(*) as count from n`;
  const running = counting.execute(db);
  // The statement has its thread when the next turn comes.
  await new Promise(setImmediate);
  const [result] = await Promise.all([running, db.destroy()]);
  expect(result.rows).toEqual([{ count: 300000 }]);
  // A thread that stays keeps the process alive; the test's time limit would be met here.
  await ended;
});
