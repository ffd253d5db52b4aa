// The conformance suite on PostgreSQL, with fewer random cases because each is slower.
import { caseCount } from './case-count.ts';
import { describeConformance } from './conformance.ts';
import { openPostgres } from './postgres-database.ts';

describeConformance('postgres', openPostgres, { caseCount: caseCount(500) });
