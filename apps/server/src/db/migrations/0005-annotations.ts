// Annotation specs (by name and digest) and annotation queues.

import type { DatabaseMigration } from '../column-types.ts';

export const annotationsMigration: DatabaseMigration = async ({ schema }, { text, integer, tableEnd }) => {
  await schema
    .createTable('annotation_specs')
    .addColumn('project_id', text, column => column.notNull())
    .addColumn('name', text, column => column.notNull())
    .addColumn('digest', text, column => column.notNull())
    .addColumn('field_schema', text, column => column.notNull())
    .addColumn('created_at', integer, column => column.notNull())
    .addPrimaryKeyConstraint('annotation_specs_key', ['project_id', 'name', 'digest'])
    .modifyEnd(tableEnd)
    .execute();
  await schema
    .createTable('annotation_queues')
    .addColumn('project_id', text, column => column.notNull())
    .addColumn('id', text, column => column.notNull())
    .addColumn('created_at', integer, column => column.notNull())
    .addColumn('deleted_at', integer)
    .addPrimaryKeyConstraint('annotation_queues_key', ['project_id', 'id'])
    .modifyEnd(tableEnd)
    .execute();
};
