// The conformance suite on PostgreSQL, with fewer random cases because each is slower.
import { describeConformance } from './conformance.ts';
import { openPostgres } from './postgres-database.ts';

describeConformance('postgres', openPostgres, { caseCount: 500 });
