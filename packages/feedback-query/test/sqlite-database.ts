// A real SQLite in memory, through Kysely's own dialect over `node:sqlite`.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type CompiledQuery, Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import { COLUMNS } from '../src/bind/columns.ts';
import type { QueryDialect } from '../src/compile/dialect.ts';
import { createInterruptibleSqliteDialect } from '../src/dialects/interruptible-sqlite.ts';
import { sqliteDialect } from '../src/dialects/sqlite.ts';
import type { FeedbackRow } from './feedback-row.ts';
import type { TestDatabase } from './test-database.ts';

type Tables = { feedback: Record<string, string | null> };

const interruptible = createInterruptibleSqliteDialect({
  check: 'is_wanted',
  search: 'find_text',
  maxInstrNeedleLength: 1,
});

/** Opens an empty database with the feedback table. */
export async function openSqlite(
  dialect: QueryDialect = sqliteDialect,
  define: (raw: DatabaseSync) => void = () => undefined,
): Promise<TestDatabase> {
  const raw = new DatabaseSync(':memory:');
  define(raw);
  const columns = COLUMNS.map(({ name, nullable }) => {
    const physical = name === 'payload' ? 'payload_dump' : name;
    return `${physical} TEXT ${nullable ? '' : 'NOT NULL'}`;
  });
  raw.exec(`CREATE TABLE feedback (${columns.join(', ')}, PRIMARY KEY (id)) STRICT`);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: wrap(raw) }) });
  return {
    dialect,
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

/** The same with statements that may be stopped. */
export async function openInterruptibleSqlite(): Promise<TestDatabase> {
  return openSqlite(interruptible, raw => {
    raw.function('is_wanted', () => 1);
    raw.function('find_text', (input, needle) =>
      input === null || needle === null ? null : String(input).indexOf(String(needle)) + 1,
    );
  });
}

function wrap(raw: DatabaseSync): SqliteDatabase {
  return {
    close: () => raw.close(),
    prepare: text => {
      const statement = raw.prepare(text);
      const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: parameters => statement.all(...values(parameters)),
        run: parameters => statement.run(...values(parameters)),
        iterate: parameters => statement.iterate(...values(parameters)),
      };
    },
  };
}

function toStored(row: FeedbackRow): Record<string, string | null> {
  const stored: Record<string, string | null> = {};
  for (const { name } of COLUMNS) {
    const value = row[name as keyof FeedbackRow];
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    stored[name === 'payload' ? 'payload_dump' : name] = text;
  }
  return stored;
}
