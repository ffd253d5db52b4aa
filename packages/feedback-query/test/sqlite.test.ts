// The conformance suite on SQLite.
import { caseCounts } from './case-count.ts';
import { describeConformance } from './conformance.ts';
import { openSqlite } from './sqlite-database.ts';

describeConformance('sqlite', openSqlite, caseCounts({ expressions: 3_000, hostile: 300 }));
