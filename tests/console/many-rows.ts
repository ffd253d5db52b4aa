// Fills the database of a server with many rows, as copies of one that came through the API. Going through the API would take
// minutes.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RunningServer } from '../support/server.ts';

/** Copies the only row of a table `count` times. `changed`: SQL of the columns that differ, in which `i` is the number of the copy. */
export function copyRow(
  { folder }: RunningServer,
  table: string,
  count: number,
  changed: Readonly<Record<string, string>>,
): void {
  const database = new DatabaseSync(join(folder, 'data/ortler.db'));
  try {
    database.exec('PRAGMA busy_timeout = 10000');
    const columns = database
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => String(name));
    const values = columns.map(name => changed[name] ?? `t."${name}"`);
    database.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
       INSERT INTO ${table} (${columns.map(name => `"${name}"`).join(', ')})
       SELECT ${values.join(', ')} FROM n, (SELECT * FROM ${table} LIMIT 1) AS t`,
    );
  } finally {
    database.close();
  }
}
