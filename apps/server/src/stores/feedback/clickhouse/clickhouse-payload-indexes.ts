// Indexes on payload paths in ClickHouse. It has none that find a row; these let a filter pass over the blocks of rows that
// cannot hold what it wants: a Bloom filter of texts, the least and the greatest number.

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
        `ALTER TABLE feedback ADD INDEX IF NOT EXISTS ${name} (${expression}) TYPE ${KINDS[index.reading]} GRANULARITY 1`,
      );
      // New rows have it from now on; this is for those that are there.
      await clickHouse.command(`ALTER TABLE feedback MATERIALIZE INDEX ${name} SETTINGS mutations_sync = 1`);
    },
    drop: index => clickHouse.command(`ALTER TABLE feedback DROP INDEX IF EXISTS ${payloadIndexName(index)}`),
  };
}
