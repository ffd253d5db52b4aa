// Data skipping indexes on payload paths in ClickHouse: a Bloom filter for texts, minmax for numbers. They do not find
// a row; they let a filter skip the granules that cannot contain a match.

import { clickHouseDialect, payloadIndexExpression } from '@ortler/feedback-query';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import { type PayloadIndexes, payloadIndexName } from '../payload-indexes.ts';

const KINDS = { text: 'bloom_filter(0.01)', number: 'minmax' } as const;

export function createClickHousePayloadIndexes(clickHouse: ClickHouse): PayloadIndexes {
  return {
    async create(index) {
      const expression = payloadIndexExpression(index.path, index.reading, clickHouseDialect);
      const name = payloadIndexName(index);
      await clickHouse.command(
        `ALTER TABLE feedback
         ADD INDEX IF NOT EXISTS ${name} (${expression}) TYPE ${KINDS[index.reading]} GRANULARITY 1`,
      );
      // New rows are indexed from now on; this indexes the stored rows.
      await clickHouse.command(`ALTER TABLE feedback MATERIALIZE INDEX ${name} SETTINGS mutations_sync = 1`);
    },
    drop: index => clickHouse.command(`ALTER TABLE feedback DROP INDEX IF EXISTS ${payloadIndexName(index)}`),
  };
}
