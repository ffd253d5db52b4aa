// ClickHouse's own engine through chdb, spoken to as a server: statements in the body, parameters beside them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompiledQuery } from 'kysely';
import { COLUMNS, type ColumnType } from '../src/bind/columns.ts';
import { clickHouseDialect } from '../src/dialects/clickhouse.ts';
import { toClickHousePayload } from '../src/dialects/clickhouse-payload.ts';
import { toClickHouseParams } from '../src/dialects/clickhouse-query-compiler.ts';
import type { FeedbackRow } from './feedback-row.ts';
import { startChdb } from './start-chdb.ts';
import type { TestDatabase } from './test-database.ts';

const COLUMN_TYPES = {
  text: 'String',
  datetime: "DateTime64(3, 'UTC')",
  json: 'String',
  'text-list': 'Array(String)',
  'text-map': 'Map(String, String)',
  'number-map': 'Map(String, Float64)',
} as const satisfies Record<ColumnType, string>;

/** A parameter, escaped like a field of a tab-separated file. */
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Opens an empty database with the feedback table. */
export async function openClickHouse(python: string): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-chdb-'));
  const chdb = await startChdb(python, folder);
  const query = async (sql: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown[]> => {
    const form = new FormData();
    form.set('query', sql);
    for (const [name, value] of Object.entries(params))
      form.set(
        `param_${name}`,
        String(value).replace(/[\\\t\n\r]/g, letter => ESCAPES[letter]!),
      );
    const response = await fetch(chdb.url, { method: 'POST', body: form });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line));
  };
  const columns = COLUMNS.map(({ name, type, nullable }) => {
    const columnType = COLUMN_TYPES[type];
    return `${name === 'payload' ? 'payload_dump' : name} ${nullable ? `Nullable(${columnType})` : columnType}`;
  });
  await query(`CREATE TABLE feedback (${columns.join(', ')}) ENGINE = Memory`);
  return {
    dialect: clickHouseDialect,
    insert: async rows => {
      const lines = rows.map(row => JSON.stringify(toStored(row)));
      const response = await fetch(`${chdb.url}/?query=INSERT+INTO+feedback+FORMAT+JSONEachRow`, {
        method: 'POST',
        body: lines.join('\n'),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    clear: async () => {
      await query('TRUNCATE TABLE feedback');
    },
    run: async <T>({ sql, parameters }: CompiledQuery<T>) =>
      (await query(`${sql}\nFORMAT JSONEachRow`, toClickHouseParams(parameters))) as readonly T[],
    close: async () => {
      await chdb.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function toStored(row: FeedbackRow): Record<string, unknown> {
  const { payload, created_at, ...same } = row;
  const moment = created_at.replace('T', ' ').replace('Z', '');
  return { ...same, payload_dump: toClickHousePayload(payload), created_at: moment };
}
