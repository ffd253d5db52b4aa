// The conformance suite on SQLite.
import { caseCount } from './case-count.ts';
import { describeConformance } from './conformance.ts';
import { openSqlite } from './sqlite-database.ts';

describeConformance('sqlite', openSqlite, { caseCount: caseCount(3_000) });
