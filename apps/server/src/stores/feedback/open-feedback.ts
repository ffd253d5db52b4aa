// Opens the feedback store: ClickHouse when its URL is configured, else the transactional database.

import type { FeedbackStore } from '@ortler/api';
import type { Database, DatabaseCondition } from '../../db/database.ts';
import { createFeedbackStore } from './feedback-store.ts';
import { createPayloadIndexes, type PayloadIndexes } from './payload-indexes.ts';

export interface FeedbackOptions {
  readonly dataDir: string;
  /** Absent: feedback stays in the transactional database. */
  readonly clickhouseUrl?: string | undefined;
  /** Unit: milliseconds. */
  readonly queryTimeLimitMs: number;
}

export interface OpenFeedback {
  readonly store: FeedbackStore;
  readonly indexes: PayloadIndexes;
  /** Further databases, for the health report. */
  readonly databases: readonly { readonly name: 'clickhouse'; condition(): Promise<DatabaseCondition> }[];
  /** Closes ClickHouse; the transactional database stays open. */
  close(): Promise<void>;
}

/** Throws: `DatabaseError` when ClickHouse cannot be used. */
export async function openFeedback(database: Database, options: FeedbackOptions): Promise<OpenFeedback> {
  const { clickhouseUrl: url, dataDir, queryTimeLimitMs } = options;
  if (url === undefined)
    return {
      store: createFeedbackStore(database),
      indexes: createPayloadIndexes(database),
      databases: [],
      close: async () => undefined,
    };
  // Most servers have none, and start without its modules.
  const { openClickHouseFeedback } = await import('./clickhouse/open-clickhouse-feedback.ts');
  return openClickHouseFeedback(database, { url, dataDir, queryTimeLimitMs });
}
