// The store of models in training.

import { randomUUID } from 'node:crypto';
import type { TrainingModel, TrainingModelStore } from '@ortler/api';
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { TrainingModelsTable } from '../../db/tables/training.ts';

/** Tables with rows for each log or trajectory of a model, of which there may be millions. */
const LOGGED_TABLES = ['trajectories', 'trajectory_groups', 'trajectory_logs', 'split_metrics'] as const;
/** Tables with rows of a model, apart from `training_models`. */
const OWNED_TABLES = ['checkpoints', ...LOGGED_TABLES] as const;

/** Rows deleted per statement, so that each ends within the time limit of statements, and others can write in between. */
const DELETE_ROWS = 500;

/** @param now Unit: milliseconds since 1970. */
export function createTrainingModelStore(
  { kind, db, reader, transaction }: Pick<Database, 'kind' | 'db' | 'reader' | 'transaction'>,
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
  /** Whether there may be more. */
  async function deleteSome(table: (typeof LOGGED_TABLES)[number], id: string): Promise<boolean> {
    const place = sql.ref(kind === 'sqlite' ? 'rowid' : 'ctid');
    const some = db.selectFrom(table).select(place.as('place')).where('model_id', '=', id).limit(DELETE_ROWS);
    const { numDeletedRows } = await db.deleteFrom(table).where(place, 'in', some).executeTakeFirst();
    return numDeletedRows === BigInt(DELETE_ROWS);
  }
  return {
    findById,
    findByName,
    async list({ entity, project, after, limit, order }) {
      let listed = reader.selectFrom('training_models').selectAll();
      if (entity !== null) listed = listed.where('entity', '=', entity);
      if (project !== null) listed = listed.where('project', '=', project);
      let page = listed
        .orderBy('created_at', order)
        .orderBy('id', order)
        .limit(limit + 1);
      if (after !== null) {
        const cursor = await listed.where('id', '=', after).executeTakeFirst();
        if (cursor === undefined) return null;
        const { created_at: time, id } = cursor;
        const behind = order === 'asc' ? '>' : '<';
        page = page.where(({ eb, or, and }) =>
          or([eb('created_at', behind, time), and([eb('created_at', '=', time), eb('id', behind, id)])]),
        );
      }
      const rows = await page.execute();
      return { models: rows.slice(0, limit).map(toModel), hasMore: rows.length > limit };
    },
    async listUntrained(entity) {
      const untrained = reader
        .selectFrom('training_models')
        .selectAll()
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('checkpoints')
                .select('checkpoints.id')
                .whereRef('checkpoints.model_id', '=', 'training_models.id')
                .where('deleted_at', 'is', null)
                .where('weights_path', 'is not', null),
            ),
          ),
        )
        .orderBy('entity')
        .orderBy('project')
        .orderBy('name');
      const ofEntity = entity === null ? untrained : untrained.where('entity', '=', entity);
      return (await ofEntity.execute()).map(toModel);
    },
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
    async delete(id) {
      // A deletion that is interrupted goes on when it is asked for again, because the model is still there.
      for (const table of LOGGED_TABLES) while (await deleteSome(table, id));
      return transaction(async trx => {
        // The model first: this waits for an append that locks its row, and a later append finds no model.
        const { numDeletedRows } = await trx
          .deleteFrom('training_models')
          .where('id', '=', id)
          .executeTakeFirst();
        for (const table of OWNED_TABLES) await trx.deleteFrom(table).where('model_id', '=', id).execute();
        return numDeletedRows > 0n;
      });
    },
  };
}

function toModel(row: TrainingModelsTable): TrainingModel {
  const { id, entity, project, name, base_model: baseModel, created_at: createdAtMs } = row;
  return { id, entity, project, name, baseModel, createdAtMs };
}
