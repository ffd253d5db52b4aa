// ClickHouse's own engine through chdb, in a Python process that TEST_PYTHON names and that lives for one test file.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { CompiledQuery } from 'kysely';
import { clickHouseDialect } from '../src/dialects/clickhouse.ts';
import { toClickHousePayload } from '../src/dialects/clickhouse-payload.ts';
import { toClickHouseParams } from '../src/dialects/clickhouse-query-compiler.ts';
import { COLUMNS, type ColumnType } from '../src/fields.ts';
import type { FeedbackRow } from './feedback-row.ts';
import type { TestDatabase } from './test-database.ts';

const COLUMN_TYPES = {
  text: 'String',
  datetime: "DateTime64(3, 'UTC')",
  json: 'String',
  'text-list': 'Array(String)',
  'text-map': 'Map(String, String)',
  'number-map': 'Map(String, Float64)',
} as const satisfies Record<ColumnType, string>;

type Answer = { readonly rows: readonly unknown[] } | { readonly error: string };

/** Opens an empty database with the feedback table. */
export async function openClickHouse(python: string): Promise<TestDatabase> {
  const child = spawn(python, [join(import.meta.dirname, 'chdb_server.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting: PromiseWithResolvers<Answer>[] = [];
  createInterface({ input: child.stdout }).on('line', line =>
    waiting.shift()!.resolve(JSON.parse(line) as Answer),
  );
  child.once('exit', code => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`chdb ended with ${code}`));
  });
  const query = async (sql: string, params: Readonly<Record<string, unknown>> = {}) => {
    const answered = Promise.withResolvers<Answer>();
    waiting.push(answered);
    // The only bigints are counts of rows, which are small.
    const text = JSON.stringify({ sql, params }, (_, value) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    child.stdin.write(`${text}\n`);
    const answer = await answered.promise;
    if ('error' in answer) throw new Error(answer.error);
    return answer.rows;
  };
  const columns = COLUMNS.map(({ name, type, nullable }) => {
    const columnType = COLUMN_TYPES[type];
    return `${name === 'payload' ? 'payload_dump' : name} ${nullable ? `Nullable(${columnType})` : columnType}`;
  });
  await query('CREATE DATABASE test');
  await query(`CREATE TABLE test.feedback (${columns.join(', ')}) ENGINE = Memory`);
  return {
    dialect: clickHouseDialect,
    tableName: 'test.feedback',
    insert: async rows => {
      const lines = rows.map(row => JSON.stringify(toStored(row)));
      await query(`INSERT INTO test.feedback FORMAT JSONEachRow ${lines.join('\n')}`);
    },
    clear: async () => {
      await query('TRUNCATE TABLE test.feedback');
    },
    run: async <T>({ sql, parameters }: CompiledQuery<T>) =>
      (await query(sql, toClickHouseParams(parameters))) as readonly T[],
    close: async () => {
      child.stdin.end();
      await new Promise(resolve => child.once('exit', resolve));
    },
  };
}

function toStored(row: FeedbackRow): Record<string, unknown> {
  const { payload, created_at, ...same } = row;
  const moment = created_at.replace('T', ' ').replace('Z', '');
  return { ...same, payload_dump: toClickHousePayload(payload), created_at: moment };
}
