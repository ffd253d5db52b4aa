// The conformance suite on SQLite.
import { describeConformance } from './conformance.ts';
import { openSqlite } from './sqlite-database.ts';

describeConformance('sqlite', openSqlite, { caseCount: 3_000 });
