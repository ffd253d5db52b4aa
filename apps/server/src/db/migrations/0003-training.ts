// Models under training, their checkpoints, logged trajectories and the metrics of each split.

import { sql } from 'kysely';
import type { DatabaseMigration } from '../column-types.ts';

export const trainingMigration: DatabaseMigration = async (db, { text, integer, double, tableEnd }) => {
  const { schema } = db;
  await schema
    .createTable('training_models')
    .addColumn('id', text, column => column.primaryKey())
    .addColumn('entity', text, column => column.notNull())
    .addColumn('project', text, column => column.notNull())
    .addColumn('name', text, column => column.notNull())
    .addColumn('base_model', text, column => column.notNull())
    .addColumn('last_position', integer, column => column.notNull())
    .addColumn('created_at', integer, column => column.notNull())
    .addUniqueConstraint('training_models_name', ['entity', 'project', 'name'])
    .modifyEnd(tableEnd)
    .execute();

  await schema
    .createTable('checkpoints')
    .addColumn('id', text, column => column.primaryKey())
    .addColumn('model_id', text, column => column.notNull())
    .addColumn('step', integer, column => column.notNull())
    .addColumn('metrics', text, column => column.notNull())
    .addColumn('weights_kind', text)
    .addColumn('weights_path', text)
    .addColumn('created_at', integer, column => column.notNull())
    .addColumn('deleted_at', integer)
    .modifyEnd(tableEnd)
    .execute();
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

  await schema
    .createTable('trajectory_logs')
    .addColumn('id', text, column => column.primaryKey())
    .addColumn('model_id', text, column => column.notNull())
    .addColumn('split', text, column => column.notNull())
    .addColumn('step', integer, column => column.notNull())
    .addColumn('group_count', integer, column => column.notNull())
    .addColumn('trajectory_count', integer, column => column.notNull())
    .addColumn('idempotency_key', text)
    .addColumn('body_digest', text)
    .addColumn('created_at', integer, column => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await schema
    .createIndex('trajectory_logs_key')
    .unique()
    .on('trajectory_logs')
    .columns(['model_id', 'idempotency_key'])
    .execute();

  await schema
    .createTable('trajectory_groups')
    .addColumn('log_id', text, column => column.notNull())
    .addColumn('model_id', text, column => column.notNull())
    .addColumn('group_index', integer, column => column.notNull())
    .addColumn('json', text, column => column.notNull())
    .addPrimaryKeyConstraint('trajectory_groups_key', ['model_id', 'log_id', 'group_index'])
    .modifyEnd(tableEnd)
    .execute();

  await schema
    .createTable('trajectories')
    .addColumn('model_id', text, column => column.notNull())
    .addColumn('position', integer, column => column.notNull())
    .addColumn('log_id', text, column => column.notNull())
    .addColumn('group_index', integer, column => column.notNull())
    .addColumn('trajectory_index', integer, column => column.notNull())
    .addColumn('split', text, column => column.notNull())
    .addColumn('step', integer, column => column.notNull())
    .addColumn('reward', double, column => column.notNull())
    .addColumn('initial_policy_version', integer)
    .addColumn('final_policy_version', integer)
    .addColumn('metrics', text, column => column.notNull())
    .addColumn('trainable_items', text, column => column.notNull())
    .addColumn('start_time', integer, column => column.notNull())
    .addColumn('logged_at', integer, column => column.notNull())
    .addColumn('json_length', integer, column => column.notNull())
    // Last, so that rows are filtered without reading it.
    .addColumn('json', text, column => column.notNull())
    .addPrimaryKeyConstraint('trajectories_key', ['model_id', 'position'])
    .modifyEnd(tableEnd)
    .execute();
  for (const filter of ['split', 'step'])
    await schema
      .createIndex(`trajectories_${filter}`)
      .on('trajectories')
      .columns(['model_id', filter, 'position'])
      .execute();

  await schema
    .createTable('split_metrics')
    .addColumn('model_id', text, column => column.notNull())
    .addColumn('split', text, column => column.notNull())
    .addColumn('step', integer, column => column.notNull())
    .addColumn('name', text, column => column.notNull())
    .addColumn('total', double, column => column.notNull())
    .addColumn('count', integer, column => column.notNull())
    .addPrimaryKeyConstraint('split_metrics_key', ['model_id', 'split', 'step', 'name'])
    .modifyEnd(tableEnd)
    .execute();
};
