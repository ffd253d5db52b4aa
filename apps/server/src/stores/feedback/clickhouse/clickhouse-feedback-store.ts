// The feedback store in ClickHouse, for volumes beyond one machine. Reads see the current row version of each id;
// all writes go through one writer.

import type { FeedbackStore } from '@ortler/api';
import { clickHouseDialect, compileFeedbackQuery } from '@ortler/feedback-query';
import type { CompiledQuery } from 'kysely';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import { toPublicFailure } from '../public-failure.ts';
import { samplePayloads } from '../sample-payloads.ts';
import type { FeedbackWriter } from './feedback-writer.ts';
import { readInWindows } from './read-in-windows.ts';

export function createClickHouseFeedbackStore(
  clickHouse: ClickHouse,
  { write }: FeedbackWriter,
): FeedbackStore {
  const withPublicErrors = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      throw toPublicFailure(error);
    }
  };
  const read = <Row>(statement: CompiledQuery<Row>) => withPublicErrors(clickHouse.read(statement));

  return {
    async query(query) {
      const { toResult, toCursor } = compileFeedbackQuery(query, clickHouseDialect);
      const rows = await withPublicErrors(readInWindows(clickHouse, query));
      const last = rows.at(-1);
      return { rows: rows.map(toResult), lastCursor: last === undefined ? null : toCursor(last) };
    },

    samplePayloads: query => samplePayloads(query, clickHouseDialect, {}, read),

    insert: async records => (records.length === 0 ? [] : write({ kind: 'insert', records })),

    async replace(removedId, record) {
      const [inserted] = await write({ kind: 'replace', removedId, record });
      return inserted!;
    },

    async delete(projectId, ids) {
      await write({ kind: 'delete', projectId, ids });
    },
  };
}
