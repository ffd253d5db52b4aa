// What one migration is. Callers: every migration of this folder and the list of them.

import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';

/** One step, written once for both databases: whatever differs comes from the column types. */
export type DatabaseMigration = (db: Kysely<unknown>, types: ColumnTypes) => Promise<void>;
