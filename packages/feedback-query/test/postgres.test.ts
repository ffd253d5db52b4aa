// The conformance suite on PostgreSQL: the one compiled to WebAssembly, and a server where TEST_POSTGRES_URL names one
// (`scripts/ci/with-postgres.mjs` starts it). Fewer random cases, because each is slower.
import { describe } from 'vitest';
import { caseCounts } from './case-count.ts';
import { describeConformance } from './conformance.ts';
import { openPglite, openPostgres } from './postgres-database.ts';

const COUNTS = caseCounts({ expressions: 500, hostile: 50 });
const url = process.env.TEST_POSTGRES_URL;

describeConformance('pglite', openPglite, COUNTS);
describe.skipIf(url === undefined)(
  `on a server${url === undefined ? ' (skipped: TEST_POSTGRES_URL is not set)' : ''}`,
  () => describeConformance('postgres', () => openPostgres(url!), COUNTS),
);
