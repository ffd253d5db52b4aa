// A real PostgreSQL, compiled to WebAssembly and run in memory, through Kysely's dialect for it.
import { PGlite } from '@electric-sql/pglite';
import { type CompiledQuery, Kysely, PGliteDialect } from 'kysely';
import { postgresDialect } from '../src/dialects/postgres.ts';
import { COLUMNS, type ColumnType } from '../src/fields.ts';
import type { FeedbackRow } from './feedback-row.ts';
import type { TestDatabase } from './test-database.ts';

type Tables = { feedback: Record<string, unknown> };

const COLUMN_TYPES = {
  text: 'text',
  datetime: 'timestamptz(3)',
  json: 'text',
  'text-list': 'text[]',
  'text-map': 'jsonb',
  'number-map': 'jsonb',
} as const satisfies Record<ColumnType, string>;

/** Opens an empty database with the feedback table. */
export async function openPostgres(): Promise<TestDatabase> {
  const raw = await PGlite.create();
  const columns = COLUMNS.map(
    ({ name, type, nullable }) =>
      `${name === 'payload' ? 'payload_dump' : name} ${COLUMN_TYPES[type]} ${nullable ? '' : 'NOT NULL'}`,
  );
  columns.push('payload jsonb GENERATED ALWAYS AS (payload_dump::jsonb) STORED', 'PRIMARY KEY (id)');
  await raw.exec(`CREATE TABLE feedback (${columns.join(', ')})`);
  const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite: raw }) });
  return {
    dialect: postgresDialect,
    insert: async rows => {
      for (const row of rows) await db.insertInto('feedback').values(toStored(row)).execute();
    },
    clear: async () => {
      await db.deleteFrom('feedback').execute();
    },
    run: async <T>(statement: CompiledQuery<T>) => (await db.executeQuery(statement)).rows,
    close: () => db.destroy(),
  };
}

function toStored(row: FeedbackRow): Record<string, unknown> {
  const stored: Record<string, unknown> = {};
  for (const { name, type } of COLUMNS) {
    const value = row[name as keyof FeedbackRow];
    if (type === 'json') stored.payload_dump = JSON.stringify(value);
    else stored[name] = type === 'text-map' || type === 'number-map' ? JSON.stringify(value) : value;
  }
  return stored;
}
