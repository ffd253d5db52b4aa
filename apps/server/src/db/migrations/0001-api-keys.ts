// The table of API keys.

import type { DatabaseMigration } from '../column-types.ts';

export const apiKeysMigration: DatabaseMigration = (db, { text }) =>
  db.schema
    .createTable('api_keys')
    .addColumn('id', text, column => column.primaryKey())
    .addColumn('name', text, column => column.notNull())
    .addColumn('hash', text, column => column.notNull().unique())
    .addColumn('created_at', text, column => column.notNull())
    .execute();
