// The conformance suite on ClickHouse, where TEST_PYTHON names a Python that has chdb.
import { spawnSync } from 'node:child_process';
import { describe, it } from 'vitest';
import { caseCount } from './case-count.ts';
import { openClickHouse } from './clickhouse-database.ts';
import { describeConformance } from './conformance.ts';

const python = process.env.TEST_PYTHON;
const hasChdb = python !== undefined && spawnSync(python, ['-c', 'import chdb']).status === 0;

if (hasChdb) {
  describeConformance('clickhouse', () => openClickHouse(python), { caseCount: caseCount(600) });
} else {
  describe.skip('clickhouse conformance (skipped: TEST_PYTHON names no Python with chdb)', () => {
    it('runs the vectors and random expressions', () => undefined);
  });
}
