// The conformance suite on ClickHouse, where TEST_PYTHON names a Python that has chdb.
import { runs } from 'test-runs';
import { describe, it } from 'vitest';
import { openClickHouse } from './clickhouse-database.ts';
import { describeConformance } from './conformance.ts';
import { findChdb } from './start-chdb.ts';

const COUNTS = {
  expressions: runs({ daily: 200, full: 300 }),
  hostile: runs({ daily: 20, full: 30 }),
};
const python = findChdb();

if (python !== undefined) {
  describeConformance('clickhouse', () => openClickHouse(python), COUNTS);
} else {
  describe.skip('clickhouse conformance (skipped: TEST_PYTHON names no Python with chdb)', () => {
    it('runs the vectors and random expressions', () => undefined);
  });
}
