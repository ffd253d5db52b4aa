// API keys get a team. Checkpoint ids become unique within their model instead of globally: a client that chooses its
// own id must not learn from a conflict that another team uses the same id.

import { sql } from 'kysely';
import type { DatabaseMigration } from '../column-types.ts';

export const teamsMigration: DatabaseMigration = async (db, { text, integer, tableEnd }) => {
  const { schema } = db;
  await schema.alterTable('api_keys').addColumn('team', text).execute();

  // SQLite cannot alter a primary key, so the table is recreated.
  await schema
    .createTable('checkpoints_of_models')
    .addColumn('id', text, column => column.notNull())
    .addColumn('model_id', text, column => column.notNull())
    .addColumn('step', integer, column => column.notNull())
    .addColumn('metrics', text, column => column.notNull())
    .addColumn('weights_kind', text)
    .addColumn('weights_path', text)
    .addColumn('created_at', integer, column => column.notNull())
    .addColumn('deleted_at', integer)
    .addPrimaryKeyConstraint('checkpoints_key', ['model_id', 'id'])
    .modifyEnd(tableEnd)
    .execute();
  const columns = 'id, model_id, step, metrics, weights_kind, weights_path, created_at, deleted_at';
  await sql`insert into checkpoints_of_models (${sql.raw(columns)}) select ${sql.raw(columns)} from checkpoints`.execute(
    db,
  );
  await schema.dropTable('checkpoints').execute();
  await schema.alterTable('checkpoints_of_models').renameTo('checkpoints').execute();
  await schema
    .createIndex('checkpoints_order')
    .on('checkpoints')
    .columns(['model_id', 'step', 'id'])
    .execute();
  await schema
    .createIndex('checkpoints_live_step')
    .unique()
    .on('checkpoints')
    .columns(['model_id', 'step'])
    .where(sql.ref('deleted_at'), 'is', null)
    .execute();
};
