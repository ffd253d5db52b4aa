// The usage store: on PostgreSQL in the main database, on SQLite in a file of its own beside it.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { UsageGroup, UsageQuery, UsageStore, UsageSum } from '@ortler/api';
import { type Kysely, sql } from 'kysely';
import type { Database, DatabaseKind } from '../../db/database.ts';
import { openUsageFile } from '../../db/sqlite/open-usage-file.ts';
import type { UsageTable, UsageTables } from '../../db/tables/usage.ts';
import type { CheckedDatabase } from '../../system/storage-checks.ts';
import { addUsage, ROWS_PER_STATEMENT } from './add-usage.ts';
import { createUsageTables } from './usage-table.ts';
import { dayOf, type UsageBatch, UsageWriter } from './usage-writer.ts';

export const USAGE_FILE = 'usage.db';

export interface OpenUsageStore extends UsageStore {
  /** The file, for the health report; none where usage is in the main database. */
  readonly databases: readonly CheckedDatabase[];
  /** Writes what is left, then closes the file. */
  close(): Promise<void>;
}

/** Column of each group. */
const COLUMNS = {
  api_key_id: 'key_id',
  team: 'team',
  project_id: 'project',
  model: 'model',
} as const satisfies Record<UsageGroup, keyof UsageTable>;

const KEEP_WRITERS_MS = 30 * 24 * 60 * 60 * 1_000;

/** Opens the store. @param dataDir Folder of the file on SQLite. Throws: `DatabaseError`. */
export async function openUsageStore(database: Database, dataDir: string): Promise<OpenUsageStore> {
  const { kind } = database;
  if (kind === 'postgres') {
    await database.exclusively('usage-table', trx => createUsageTables(trx, kind));
    const db = database.db as unknown as Kysely<UsageTables>;
    await forgetWriters(db);
    const writerId = randomUUID();
    return createStore(db, kind, {
      databases: [],
      write: batch => addBatch(db, writerId, batch),
      closeDb: async () => undefined,
    });
  }
  const { db, reader, condition, close } = await openUsageFile(join(dataDir, USAGE_FILE));
  try {
    await createUsageTables(db, kind);
  } catch (error) {
    await close();
    throw error;
  }
  return createStore(reader, kind, {
    databases: [{ name: USAGE_FILE, condition }],
    write: ({ rows }) => addToFile(db, rows),
    closeDb: close,
  });
}

interface StoreParts {
  readonly databases: OpenUsageStore['databases'];
  /** Adds the rows of a batch, all or none, once. */
  readonly write: (batch: UsageBatch) => Promise<void>;
  readonly closeDb: () => Promise<void>;
}

function createStore(
  reader: Kysely<UsageTables>,
  kind: DatabaseKind,
  { databases, write, closeDb }: StoreParts,
): OpenUsageStore {
  const writer = new UsageWriter(write);
  return {
    databases,
    record: usage => writer.record(usage),
    list: query => list(reader, kind, query),
    async close() {
      await writer.close();
      await closeDb();
    },
  };
}

/** Adds the rows, unless this batch or a later one of the writer is stored. */
async function addBatch(
  db: Kysely<UsageTables>,
  writerId: string,
  { number, rows }: UsageBatch,
): Promise<void> {
  // In one order, so that servers on one database cannot block each other for ever.
  const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  await db.transaction().execute(async trx => {
    // A transaction of a lost connection that still runs holds this row, so this one waits for its end.
    const isNew = await trx
      .insertInto('usage_writers')
      .values({ id: writerId, last_batch: number, last_day: dayOf(Date.now()) })
      .onConflict(conflict =>
        conflict
          .column('id')
          .doUpdateSet(({ ref }) => ({
            last_batch: ref('excluded.last_batch'),
            last_day: ref('excluded.last_day'),
          }))
          .whereRef('usage_writers.last_batch', '<', 'excluded.last_batch'),
      )
      .returning('id')
      .executeTakeFirst();
    if (isNew !== undefined) await addUsage(trx, 'postgres', sorted);
  });
}

/**
 * Adds the rows to the file. Whether a statement of a file took effect is always known, so no batch is added twice. Nearly every batch
 * is one statement, which is one message to the thread of the file.
 */
async function addToFile(db: Kysely<UsageTables>, rows: readonly UsageTable[]): Promise<void> {
  if (rows.length <= ROWS_PER_STATEMENT) await addUsage(db, 'sqlite', rows);
  else await db.transaction().execute(trx => addUsage(trx, 'sqlite', rows));
}

/** Writers of starts that stored nothing for so long write no more. */
async function forgetWriters(db: Kysely<UsageTables>): Promise<void> {
  await db
    .deleteFrom('usage_writers')
    .where('last_day', '<', dayOf(Date.now() - KEEP_WRITERS_MS))
    .execute();
}

function keyOf({ day, key_id, team, project, model }: UsageTable): string {
  return JSON.stringify([day, key_id, team, project, model]);
}

async function list(
  db: Kysely<UsageTables>,
  kind: DatabaseKind,
  { firstDay, lastDay, groups, keyIds, teams, projects, models }: UsageQuery,
): Promise<readonly UsageSum[]> {
  const columns = groups.map(group => COLUMNS[group]);
  // PostgreSQL gives sums of bigint as numeric.
  const sum = (column: keyof UsageTable) =>
    kind === 'postgres' ? sql<number>`sum(${sql.ref(column)})::bigint` : sql<number>`sum(${sql.ref(column)})`;
  const filters = [
    ['key_id', keyIds],
    ['team', teams],
    ['project', projects],
    ['model', models],
  ] as const;
  let query = db
    .selectFrom('usage')
    .select('day')
    .select(columns)
    .select([
      sum('request_count').as('requestCount'),
      sum('input_token_count').as('inputTokenCount'),
      sum('cached_token_count').as('cachedTokenCount'),
      sum('output_token_count').as('outputTokenCount'),
    ])
    .where('day', '>=', firstDay)
    .where('day', '<=', lastDay)
    .groupBy(['day', ...columns])
    .orderBy('day');
  for (const column of columns) query = query.orderBy(column);
  for (const [column, values] of filters) if (values.length > 0) query = query.where(column, 'in', values);
  const rows = await query.execute();
  return rows.map(row => ({
    day: row.day,
    keyId: row.key_id ?? null,
    team: row.team || null,
    project: row.project || null,
    model: row.model ?? null,
    requestCount: Number(row.requestCount),
    inputTokenCount: Number(row.inputTokenCount),
    cachedTokenCount: Number(row.cachedTokenCount),
    outputTokenCount: Number(row.outputTokenCount),
  }));
}
