// PostgreSQL through Kysely's own dialects: compiled to WebAssembly and run in memory, or a server.
import { randomBytes } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { type CompiledQuery, Kysely, PGliteDialect, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { COLUMNS, type ColumnType } from '../src/bind/columns.ts';
import { postgresDialect } from '../src/dialects/postgres.ts';
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

/** Opens an empty database in memory. */
export async function openPglite(): Promise<TestDatabase> {
  const pglite = await PGlite.create();
  return createTable(new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) }));
}

/** Opens an empty schema of its own on a server. */
export async function openPostgres(connectionString: string): Promise<TestDatabase> {
  const schema = `conformance_${randomBytes(6).toString('hex')}`;
  const pool = new pg.Pool({ connectionString, options: `-c search_path=${schema}` });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  await sql`create schema ${sql.id(schema)}`.execute(db);
  const database = await createTable(db);
  return {
    ...database,
    close: async () => {
      await sql`drop schema ${sql.id(schema)} cascade`.execute(db);
      await database.close();
    },
  };
}

async function createTable(db: Kysely<Tables>): Promise<TestDatabase> {
  const columns = COLUMNS.map(
    ({ name, type, nullable }) =>
      `${name === 'payload' ? 'payload_dump' : name} ${COLUMN_TYPES[type]} ${nullable ? '' : 'NOT NULL'}`,
  );
  columns.push('payload jsonb GENERATED ALWAYS AS (payload_dump::jsonb) STORED', 'PRIMARY KEY (id)');
  await sql.raw(`CREATE TABLE feedback (${columns.join(', ')})`).execute(db);
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
