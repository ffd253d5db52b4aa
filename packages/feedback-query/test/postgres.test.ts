// The conformance suite on PostgreSQL: the one compiled to WebAssembly, and a server where TEST_POSTGRES_URL names one
// (`scripts/ci/with-postgres.mjs` starts it). Fewer random cases, because each is slower.
import { runs } from 'test-runs';
import { describe } from 'vitest';
import { describeConformance } from './conformance.ts';
import { openPglite, openPostgres } from './postgres-database.ts';

const COUNTS = {
  expressions: runs({ daily: 200, full: 500 }),
  hostile: runs({ daily: 20, full: 50 }),
};
const url = process.env.TEST_POSTGRES_URL;

const isLeftOut = process.env.TEST_DATABASES === 'sqlite';
describe.skipIf(isLeftOut)(`in WebAssembly${isLeftOut ? ' (skipped: TEST_DATABASES=sqlite)' : ''}`, () =>
  describeConformance('pglite', openPglite, COUNTS),
);
describe.skipIf(url === undefined)(
  `on a server${url === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => describeConformance('postgres', () => openPostgres(url!), COUNTS),
);
