// Statistics of the feedback indexes for SQLite's planner. Without them it takes a project for ten rows, and scans all of it where a
// filter names several values. They are fixed, because those of a table that is still small would mislead it later; PostgreSQL keeps its own.
// Source: https://www.sqlite.org/lang_analyze.html#fixed_results_of_analyze

import { sql } from 'kysely';
import type { DatabaseMigration } from '../column-types.ts';

/** Rows of the table, then of each value of the first column, of the first two, and so on. */
const STATISTICS: Readonly<Record<string, string>> = {
  sqlite_autoindex_feedback_1: '1000000 100000 1',
  feedback_newest: '1000000 100000 2 1',
  feedback_by_type: '1000000 100000 10000 2 1',
  feedback_by_subject: '1000000 100000 10 2 1',
  feedback_by_trigger: '1000000 100000 1000 2 1',
};

export const feedbackStatisticsMigration: DatabaseMigration = async (db, { kind }) => {
  if (kind !== 'sqlite') return;
  // Creates the table of statistics where there is none.
  await sql`analyze sqlite_schema`.execute(db);
  await sql`delete from sqlite_stat1 where tbl = 'feedback'`.execute(db);
  for (const [index, statistics] of Object.entries(STATISTICS))
    await sql`insert into sqlite_stat1 (tbl, idx, stat) values ('feedback', ${index}, ${statistics})`.execute(
      db,
    );
  await sql`insert into sqlite_stat1 (tbl, idx, stat) select 'feedback', name, '1000000 100000 1000 2 1' from sqlite_master
    where type = 'index' and name like 'feedback_payload_%'`.execute(db);
  // Loads them into this connection.
  await sql`analyze sqlite_schema`.execute(db);
};
