// API keys of this server.

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const apiKeysMigration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('api_keys')
      .addColumn('id', 'text', column => column.primaryKey())
      .addColumn('name', 'text', column => column.notNull())
      .addColumn('hash', 'text', column => column.notNull().unique())
      .addColumn('created_at', 'text', column => column.notNull())
      .execute();
  },
};
