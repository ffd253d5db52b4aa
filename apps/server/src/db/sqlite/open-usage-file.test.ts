import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openUsageFile } from './open-usage-file.ts';

it('writes while a report is read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-usage-'));
  const { db, reader, close } = await openUsageFile(join(folder, 'usage.db'));
  await sql`create table t (a integer)`.execute(db);
  // Both threads are there.
  await sql`select 1`.execute(reader);
  const order: string[] = [];
  const report = sql`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000000) select count(*) from n`
    .execute(reader)
    .then(() => order.push('report'));
  const write = sql`insert into t values (1)`.execute(db).then(() => order.push('write'));
  await Promise.all([report, write]);
  expect(order).toEqual(['write', 'report']);
  await close();
  await rm(folder, { recursive: true });
});
