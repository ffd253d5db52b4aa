// Payload samples on any database: the rows are chosen by their keys, then their payloads come a few at a time.

import type { PayloadSampleQuery, QueryDialect } from '@ortler/feedback-query';
import {
  type CompileOptions,
  compilePayloadSampleQuery,
  compileSampledPayloadsQuery,
} from '@ortler/feedback-query';
import type { CompiledQuery } from 'kysely';

/** Payloads fetched at once: as many of the largest as fit into one answer. */
const PAYLOADS_PER_READ = 50;

/** Gives the payload texts, newest refs first. @param read Runs a statement under the limits of readers. */
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
