// Stored answers of POST /v1/responses.

import type { DatabaseMigration } from '../column-types.ts';

export const responsesMigration: DatabaseMigration = async ({ schema }, { text, integer, tableEnd }) => {
  await schema
    .createTable('responses')
    .addColumn('id', text, column => column.notNull().primaryKey())
    .addColumn('owner', text, column => column.notNull())
    .addColumn('created_at', integer, column => column.notNull())
    .addColumn('previous_id', text)
    .addColumn('input', text, column => column.notNull())
    .addColumn('response', text, column => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await schema.createIndex('responses_created_at').on('responses').column('created_at').execute();
};
