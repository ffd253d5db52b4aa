// The conformance suite on SQLite.
import { runs } from 'test-runs';
import { describeConformance } from './conformance.ts';
import { openInterruptibleSqlite, openSqlite } from './sqlite-database.ts';

const COUNTS = {
  expressions: runs({ daily: 600, full: 3_000 }),
  hostile: runs({ daily: 60, full: 300 }),
};

describeConformance('sqlite', () => openSqlite(), COUNTS);
describeConformance('interruptible sqlite', openInterruptibleSqlite, COUNTS);
