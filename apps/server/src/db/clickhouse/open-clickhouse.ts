// ClickHouse over its HTTP interface, through the official client. Values are sent as bound parameters; reads are
// read-only, and the ClickHouse server enforces their limits; a write that has resolved is on disk.

import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
  type ResultSet,
} from '@clickhouse/client';
import { type ResultRow, toClickHouseParams } from '@ortler/feedback-query';
import type { CompiledQuery } from 'kysely';
import {
  DatabaseError,
  MAX_RESULT_LENGTH,
  messageOf,
  ParameterTooLongError,
  QueryTimeoutError,
  ResultTooLargeError,
  withoutPassword,
} from '../database-errors.ts';
import { JsonPageWriter } from '../json-page.ts';
import type { ClickHouse, ReadOptions } from './clickhouse.ts';
import { createClickHouseTables } from './clickhouse-tables.ts';

export interface ClickHouseOptions {
  /** `http://user:password@host:8123/database` */
  readonly url: string;
  /** Longest read. Unit: milliseconds. */
  readonly queryTimeLimitMs: number;
}

/** Largest result of one read: the limit of the other databases, in bytes. */
const MAX_RESULT_BYTES = 2 * MAX_RESULT_LENGTH;
/** Memory limit of one read on the ClickHouse server. */
const MAX_READ_MEMORY_BYTES = 4 * 1024 ** 3;
/** Limits of the SQL text, above what the largest query of the feedback language compiles to. */
const QUERY_SIZE_SETTINGS = {
  max_query_size: String(32 * 1024 ** 2),
  max_ast_depth: '100000',
  max_ast_elements: '10000000',
  max_expanded_ast_elements: '10000000',
  max_parser_depth: '100000',
} as const;
/** Longest insert. A block that is not stored by then will never be. */
const INSERT_TIME_LIMIT_MS = 30_000;
/** The ClickHouse server enforces the limits; the client gives up this much later, when no answer arrives. */
const GRACE_MS = 5_000;
const MAX_CONNECTIONS = 10;
const PING_TIME_LIMIT_MS = 5_000;
/** Source: ClickHouse's default of `http_max_field_value_size`, which applies to form fields. */
const MAX_PARAMETER_BYTES = 131_072;

// Source: ClickHouse's table of exception codes.
const TIMEOUT_EXCEEDED = '159';
const TOO_MANY_ROWS_OR_BYTES = '396';
const MEMORY_LIMIT_EXCEEDED = '241';
/** A form field that is too long. The client sends a form where parameters are too long for a URL. */
const POCO_EXCEPTION = '1000';

/** Error codes of a connection that was never established. */
const NOT_SENT: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN'];

/** Connects to ClickHouse and creates missing tables. Throws: `DatabaseError`. */
export async function openClickHouse(options: ClickHouseOptions): Promise<ClickHouse> {
  const client = createClient({
    url: options.url,
    application: 'ortler',
    max_open_connections: MAX_CONNECTIONS,
    request_timeout: Math.max(options.queryTimeLimitMs, INSERT_TIME_LIMIT_MS) + GRACE_MS,
    use_multipart_params_auto: true,
    log: { level: ClickHouseLogLevel.OFF },
  });
  const clickHouse = createHandle(client, options.queryTimeLimitMs);
  try {
    await clickHouse.ping();
    await createClickHouseTables(clickHouse);
    return clickHouse;
  } catch (error) {
    await client.close();
    const place = withoutPassword(options.url);
    const message = `ClickHouse at ${place} cannot be used: ${messageOf(error)}`;
    throw new DatabaseError(message, { cause: error }, 'clickhouse');
  }
}

/** Asks with user, password and database of the URL; creates nothing. Gives what answered. Throws: what the client says. */
export async function pingClickHouse(url: string): Promise<string> {
  const client = createClient({
    url,
    application: 'ortler',
    request_timeout: PING_TIME_LIMIT_MS,
    log: { level: ClickHouseLogLevel.OFF },
  });
  try {
    const answer = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
    const [row] = await answer.json<{ version: string }>();
    return `ClickHouse ${row?.version}`;
  } finally {
    await client.close();
  }
}

function createHandle(client: ClickHouseClient, queryTimeLimitMs: number): ClickHouse {
  const readSettings = {
    ...QUERY_SIZE_SETTINGS,
    readonly: '1',
    max_execution_time: queryTimeLimitMs / 1_000,
    timeout_overflow_mode: 'throw',
    max_memory_usage: String(MAX_READ_MEMORY_BYTES),
    max_result_bytes: String(MAX_RESULT_BYTES),
    result_overflow_mode: 'throw',
    // Without this, an error could follow the first rows of a result.
    wait_end_of_query: 1,
    cancel_http_readonly_queries_on_client_close: 1,
    output_format_json_quote_64bit_integers: 0,
  } as const;
  const insertSettings = {
    // One block: no splitting by size, no parallel parsing, no asynchronous insert queue.
    async_insert: 0,
    input_format_parallel_parsing: 0,
    max_insert_block_size: '1048576',
    min_insert_block_size_rows: '1048576',
    min_insert_block_size_bytes: '0',
    max_execution_time: INSERT_TIME_LIMIT_MS / 1_000,
    timeout_overflow_mode: 'throw',
  } as const;

  const query = <Result>(
    { sql, parameters }: CompiledQuery,
    { withReplaced = false, signal }: ReadOptions,
    toResult: (answer: ResultSet<'JSONEachRow'>) => Promise<Result>,
  ): Promise<Result> => {
    checkParameters(parameters);
    const send = async () => {
      try {
        signal?.throwIfAborted();
        const answer = await client.query({
          query: sql,
          query_params: toClickHouseParams(parameters) as Record<string, unknown>,
          format: 'JSONEachRow',
          clickhouse_settings: { ...readSettings, final: withReplaced ? 0 : 1 },
          ...(signal !== undefined && { abort_signal: signal }),
        });
        return await toResult(answer);
      } catch (error) {
        throw signal?.aborted === true ? signal.reason : toReadFailure(error, queryTimeLimitMs);
      }
    };
    return send();
  };

  return {
    read: async <Row>(statement: CompiledQuery<Row>, options: ReadOptions = {}) =>
      query(statement, options, answer => answer.json<Row>()),

    readPage: async (statement, options, reading = {}) =>
      query(statement, reading, async answer => {
        const writer = new JsonPageWriter(options);
        for await (const rows of answer.stream<ResultRow>())
          for (const row of rows) if (!writer.add(row.json())) return writer.end();
        return writer.end();
      }),

    async insert(table, rows) {
      const query_id = randomUUID();
      const startedAtMs = performance.now();
      try {
        await client.insert({
          table,
          // A stream, because all rows of a large batch may exceed the longest string of V8.
          values: Readable.from(rows),
          format: 'JSONEachRow',
          query_id,
          clickhouse_settings: insertSettings,
        });
      } catch (error) {
        const isOver =
          error instanceof ClickHouseError || NOT_SENT.includes((error as { code?: unknown }).code);
        if (!isOver) await untilOver(client, query_id, startedAtMs + INSERT_TIME_LIMIT_MS);
        throw error;
      }
    },

    async command(sql) {
      await client.command({ query: sql });
    },

    async ping() {
      const result = await client.ping();
      if (!result.success) throw result.error;
    },

    close: () => client.close(),
  };
}

/** Kills an insert whose answer was lost, or waits until ClickHouse must have ended it. */
async function untilOver(client: ClickHouseClient, queryId: string, deadlineMs: number): Promise<void> {
  try {
    await client.command({
      query: 'KILL QUERY WHERE query_id = {id:String} SYNC',
      query_params: { id: queryId },
    });
  } catch {
    await wait(Math.max(0, deadlineMs - performance.now()));
  }
}

/** Throws: `ParameterTooLongError`. */
function checkParameters(parameters: readonly unknown[]): void {
  for (const value of parameters) {
    // A UTF-16 code unit takes at most three bytes, an escaped one included.
    if (typeof value !== 'string' || value.length * 3 <= MAX_PARAMETER_BYTES) continue;
    const escapeCount = value.match(/[\t\n\r'\\]/g)?.length ?? 0;
    if (Buffer.byteLength(value) + escapeCount > MAX_PARAMETER_BYTES)
      throw new ParameterTooLongError(
        `A text of a query takes at most ${MAX_PARAMETER_BYTES} bytes in ClickHouse, escapes included`,
      );
  }
}

function toReadFailure(error: unknown, limitMs: number): unknown {
  const { code } = error as { readonly code?: unknown };
  if (code === TIMEOUT_EXCEEDED) return new QueryTimeoutError(limitMs);
  if (code === TOO_MANY_ROWS_OR_BYTES) return new ResultTooLargeError('The rows are too large.');
  if (code === POCO_EXCEPTION && /field value too long/i.test(messageOf(error)))
    return new ParameterTooLongError(
      `With so many values the SQL of a query takes at most ${MAX_PARAMETER_BYTES} bytes in ClickHouse; use fewer operators`,
    );
  if (code === MEMORY_LIMIT_EXCEEDED) return new ResultTooLargeError('The query needs too much memory.');
  return error;
}
