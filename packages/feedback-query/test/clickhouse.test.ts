// The conformance suite on ClickHouse, where TEST_PYTHON names a Python that has chdb.
import { describe, it } from 'vitest';
import { caseCounts } from './case-count.ts';
import { openClickHouse } from './clickhouse-database.ts';
import { describeConformance } from './conformance.ts';
import { findChdb } from './start-chdb.ts';

const python = findChdb();

if (python !== undefined) {
  describeConformance(
    'clickhouse',
    () => openClickHouse(python),
    caseCounts({ expressions: 600, hostile: 60 }),
  );
} else {
  describe.skip('clickhouse conformance (skipped: TEST_PYTHON names no Python with chdb)', () => {
    it('runs the vectors and random expressions', () => undefined);
  });
}
