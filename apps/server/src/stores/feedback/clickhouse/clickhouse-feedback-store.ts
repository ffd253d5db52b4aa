// The feedback store in ClickHouse, for volumes beyond one machine. Reads see the current row version of each id;
// all writes go through one writer.

import type { FeedbackStore } from '@ortler/api';
import { clickHouseDialect, compileFeedbackQuery } from '@ortler/feedback-query';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import { isSameFeedback } from '../inserted-feedback.ts';
import { toPublicFailure } from '../public-failure.ts';
import { samplePayloads } from '../sample-payloads.ts';
import { toFeedbackPage } from '../to-feedback-page.ts';
import type { FeedbackWriter } from './feedback-writer.ts';
import { loadStoredIds } from './load-stored-ids.ts';
import { readInWindows } from './read-in-windows.ts';
import { keyText } from './write-command.ts';

/** Fewer than the connections of the client, so that writes need not wait for queries. */
const QUERY_CONCURRENCY = 6;

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

  return {
    queryConcurrency: QUERY_CONCURRENCY,

    async query(query, reading) {
      const { toCursor } = compileFeedbackQuery(query, clickHouseDialect);
      return toFeedbackPage(await withPublicErrors(readInWindows(clickHouse, query, reading)), toCursor);
    },

    samplePayloads: (query, signal) =>
      samplePayloads(query, clickHouseDialect, {}, statement =>
        withPublicErrors(clickHouse.read(statement, { signal })),
      ),

    insert: async records => (records.length === 0 ? [] : write({ kind: 'insert', records })),

    async isStored(record) {
      const { rows } = await loadStoredIds(clickHouse, [{ kind: 'insert', records: [record] }]);
      const row = rows.get(keyText({ projectId: record.project_id, id: record.id }));
      return row !== undefined && isSameFeedback(record, row);
    },

    async replace(removedId, record) {
      const [inserted] = await write({ kind: 'replace', removedId, record });
      return inserted!;
    },

    async delete(projectId, ids) {
      await write({ kind: 'delete', projectId, ids });
    },
  };
}
