// Payload samples for payload schemas, on any database: the rows are selected by key, then payloads are read in chunks.

import type { PayloadSampleQuery, QueryDialect } from '@ortler/feedback-query';
import {
  type CompileOptions,
  compilePayloadSampleQuery,
  compileSampledPayloadsQuery,
} from '@ortler/feedback-query';
import type { CompiledQuery } from 'kysely';

/** Payloads per read: this many of the largest payloads lie in memory at once. */
const PAYLOADS_PER_READ = 10;

/** Yields payload texts, newest refs first. @param read Runs a statement with the limits of readers. */
export async function* samplePayloads(
  query: PayloadSampleQuery,
  dialect: QueryDialect,
  options: CompileOptions,
  read: <Row>(statement: CompiledQuery<Row>) => Promise<readonly Row[]>,
): AsyncGenerator<readonly string[]> {
  const keys = await read(compilePayloadSampleQuery(query, dialect, options));
  for (let start = 0; start < keys.length; start += PAYLOADS_PER_READ) {
    const some = keys.slice(start, start + PAYLOADS_PER_READ);
    const rows = await read(compileSampledPayloadsQuery(query.projectId, some, dialect, options));
    yield rows.map(({ payload }) => payload);
  }
}
