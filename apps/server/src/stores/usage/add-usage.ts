// The statement that adds rows to the table of usage. It is written as text, because nearly every answer waits for it, and the query
// builder would take longer than the database.

import { CompiledQuery, type Kysely } from 'kysely';
import type { DatabaseKind } from '../../db/database.ts';
import type { UsageTable, UsageTables } from '../../db/tables/usage.ts';
import { USAGE_COUNTS, USAGE_KEYS } from './usage-table.ts';

/** Rows of one statement: nine columns each, and SQLite accepts 32,766 parameters. */
export const ROWS_PER_STATEMENT = 1_000;

const COLUMNS = [...USAGE_KEYS, ...USAGE_COUNTS];
const HEAD = `insert into usage (${COLUMNS.join(', ')}) values `;
const ADDED = USAGE_COUNTS.map(name => `${name} = usage.${name} + excluded.${name}`).join(', ');
const TAIL = ` on conflict (${USAGE_KEYS.join(', ')}) do update set ${ADDED}`;

/** Adds the counts of the rows, in one statement for each `ROWS_PER_STATEMENT`. */
export async function addUsage(
  db: Kysely<UsageTables>,
  kind: DatabaseKind,
  rows: readonly UsageTable[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const some = rows.slice(start, start + ROWS_PER_STATEMENT);
    const values = some.flatMap(row => COLUMNS.map(name => row[name]));
    await db.executeQuery(CompiledQuery.raw(HEAD + placeholders(some.length, kind) + TAIL, values));
  }
}

function placeholders(rowCount: number, kind: DatabaseKind): string {
  let last = 0;
  const next = kind === 'postgres' ? () => `$${++last}` : () => '?';
  return Array.from({ length: rowCount }, () => `(${COLUMNS.map(next).join(', ')})`).join(', ');
}
