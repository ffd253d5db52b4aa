// Rate limits of single keys. Null: the limit of the configuration; 0: none.

import type { DatabaseMigration } from '../column-types.ts';

const COLUMNS = ['requests_per_minute', 'tokens_per_minute', 'concurrency'] as const;

export const keyLimitsMigration: DatabaseMigration = async ({ schema }, { integer }) => {
  for (const column of COLUMNS) await schema.alterTable('api_keys').addColumn(column, integer).execute();
};
