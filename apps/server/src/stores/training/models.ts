// The store of models in training.

import { randomUUID } from 'node:crypto';
import type { TrainingModel, TrainingModelStore } from '@ortler/api';
import type { Database } from '../../db/database.ts';
import type { TrainingModelsTable } from '../../db/tables/training.ts';

/** Tables with rows of a model, apart from `training_models`. */
const OWNED_TABLES = [
  'checkpoints',
  'trajectory_logs',
  'trajectory_groups',
  'trajectories',
  'split_metrics',
] as const;

/** @param now Unit: milliseconds since 1970. */
export function createTrainingModelStore(
  { db, reader, transaction }: Pick<Database, 'db' | 'reader' | 'transaction'>,
  now: () => number,
): TrainingModelStore {
  const findById = async (id: string) => {
    // Reads use the reader, so that they do not wait for a large log that is being stored.
    const row = await reader
      .selectFrom('training_models')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row === undefined ? null : toModel(row);
  };
  const findByName: TrainingModelStore['findByName'] = async ({ entity, project, name }) => {
    const row = await reader
      .selectFrom('training_models')
      .selectAll()
      .where('entity', '=', entity)
      .where('project', '=', project)
      .where('name', '=', name)
      .executeTakeFirst();
    return row === undefined ? null : toModel(row);
  };
  return {
    findById,
    findByName,
    async create({ entity, project, name, baseModel }) {
      const inserted = await db
        .insertInto('training_models')
        .values({
          id: randomUUID(),
          entity,
          project,
          name,
          base_model: baseModel,
          last_position: 0,
          created_at: now(),
        })
        .onConflict(conflict => conflict.columns(['entity', 'project', 'name']).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (inserted !== undefined) return { model: toModel(inserted), isNew: true };
      const existing = await findByName({ entity, project, name });
      // The model existed at the insert; when it was deleted since, it is created again.
      return existing === null
        ? this.create({ entity, project, name, baseModel })
        : { model: existing, isNew: false };
    },
    delete: id =>
      transaction(async trx => {
        // The model first: this waits for an append that locks its row, and a later append finds no model.
        const { numDeletedRows } = await trx
          .deleteFrom('training_models')
          .where('id', '=', id)
          .executeTakeFirst();
        for (const table of OWNED_TABLES) await trx.deleteFrom(table).where('model_id', '=', id).execute();
        return numDeletedRows > 0n;
      }),
  };
}

function toModel(row: TrainingModelsTable): TrainingModel {
  const { id, entity, project, name, base_model: baseModel, created_at: createdAtMs } = row;
  return { id, entity, project, name, baseModel, createdAtMs };
}
