// Opens the feedback store on ClickHouse, with the lock of its one writer.

import { openClickHouse } from '../../../db/clickhouse/open-clickhouse.ts';
import { createWriteLock } from '../../../db/clickhouse/write-lock.ts';
import type { Database, DatabaseCondition } from '../../../db/database.ts';
import { createClickHouseFeedbackStore } from './clickhouse-feedback-store.ts';
import { createClickHousePayloadIndexes } from './clickhouse-payload-indexes.ts';
import { createFeedbackWriter } from './feedback-writer.ts';

export interface ClickHouseFeedbackOptions {
  readonly dataDir: string;
  readonly url: string;
  /** Unit: milliseconds. */
  readonly queryTimeLimitMs: number;
}

/** Throws: `DatabaseError` when ClickHouse cannot be used. */
export async function openClickHouseFeedback(
  database: Database,
  { dataDir, url, queryTimeLimitMs }: ClickHouseFeedbackOptions,
) {
  const clickHouse = await openClickHouse({ url, queryTimeLimitMs });
  const lock = await createWriteLock(database, dataDir);
  const writer = createFeedbackWriter(clickHouse, lock);
  const condition = (): Promise<DatabaseCondition> => clickHouse.ping().then(() => 'ready');
  return {
    store: createClickHouseFeedbackStore(clickHouse, writer),
    indexes: createClickHousePayloadIndexes(clickHouse),
    databases: [{ name: 'clickhouse', condition }] as const,
    async close() {
      await writer.close();
      await lock.close();
      await clickHouse.close();
    },
  };
}
