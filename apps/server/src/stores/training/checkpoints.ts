// The checkpoint store. Deleted checkpoints stay as tombstones, so that pagination can continue after one.

import { randomUUID } from 'node:crypto';
import {
  type CheckpointStore,
  type CheckpointWeights,
  type ServableCheckpoint,
  type StoredCheckpoint,
  toModelReference,
} from '@ortler/api';
import { parseNatively } from '@ortler/json';
import type { Selectable, Transaction } from 'kysely';
import type { Database } from '../../db/database.ts';
import { isUniqueViolation } from '../../db/database-errors.ts';
import type { CheckpointsTable } from '../../db/tables/training.ts';
import type { Tables } from '../../db/tables.ts';
import { newestStep } from './newest-step.ts';
import { readSplitMetrics } from './split-metrics.ts';

type Row = Selectable<CheckpointsTable>;

/** Most checkpoints that may be registered; deleted ones do not count. */
export interface CheckpointLimits {
  readonly perModel: number;
  readonly perTeam: number;
}

const UNLIMITED: CheckpointLimits = {
  perModel: Number.POSITIVE_INFINITY,
  perTeam: Number.POSITIVE_INFINITY,
};

/** @param now Unit: milliseconds since 1970. */
export function createCheckpointStore(
  database: Database,
  now: () => number,
  limits: CheckpointLimits = UNLIMITED,
): CheckpointStore {
  // Reads use the reader, so that they do not wait for a large log that is being stored.
  const { db, reader } = database;
  const live = (modelId: string) =>
    reader
      .selectFrom('checkpoints')
      .selectAll()
      .where('model_id', '=', modelId)
      .where('deleted_at', 'is', null);

  /** Adds the logged metrics of each row's step. */
  async function withLoggedMetrics(modelId: string, rows: readonly Row[]): Promise<StoredCheckpoint[]> {
    const steps = rows.map(({ step }) => step);
    const logged = steps.length === 0 ? [] : await readSplitMetrics(reader, modelId, { steps });
    return rows.map(row => {
      const means = logged
        .filter(({ step }) => step === row.step)
        .map(({ split, name, value }) => [`${split}/${name}`, value] as const);
      return toCheckpoint(row, Object.fromEntries(means));
    });
  }

  const find: CheckpointStore['find'] = async (modelId, id) => {
    const row = await live(modelId).where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : (await withLoggedMetrics(modelId, [row]))[0]!;
  };

  return {
    find,

    async list(modelId, { after, limit, order }) {
      let query = live(modelId)
        .orderBy('step', order)
        .orderBy('id', order)
        .limit(limit + 1);
      if (after !== null) {
        const cursor = await reader
          .selectFrom('checkpoints')
          .select('step')
          .where('model_id', '=', modelId)
          .where('id', '=', after)
          .executeTakeFirst();
        if (cursor === undefined) return null;
        const { step } = cursor;
        const behind = order === 'asc' ? '>' : '<';
        query = query.where(({ eb, or, and }) =>
          or([eb('step', behind, step), and([eb('step', '=', step), eb('id', behind, after)])]),
        );
      }
      const rows = await query.execute();
      const checkpoints = await withLoggedMetrics(modelId, rows.slice(0, limit));
      return { checkpoints, hasMore: rows.length > limit };
    },

    async register(modelId, { id, step, metrics, weights }) {
      const attempt = () =>
        database.exclusively(`checkpoints of ${modelId}`, async trx => {
          const model = await trx
            .selectFrom('training_models')
            .select('entity')
            .where('id', '=', modelId)
            // A deletion of the model waits, or this waits for its end; an append of trajectories does neither.
            .$if(database.kind === 'postgres', query => query.forKeyShare())
            .executeTakeFirst();
          if (model === undefined) return 'unknown-model';
          const counts = await countCheckpoints(trx, model.entity, modelId);
          if (counts.ofModel >= limits.perModel) return { limit: limits.perModel, of: 'model' } as const;
          if (counts.ofTeam >= limits.perTeam) return { limit: limits.perTeam, of: 'team' } as const;
          const next = ((await newestStep(trx, modelId)) ?? -1) + 1;
          // No step follows the largest safe integer.
          if (step === null && !Number.isSafeInteger(next)) return 'taken';
          return trx
            .insertInto('checkpoints')
            .values({
              id: id ?? randomUUID(),
              model_id: modelId,
              step: step ?? next,
              metrics: JSON.stringify(metrics),
              weights_kind: weights?.kind ?? null,
              weights_path: weights?.path ?? null,
              created_at: now(),
              deleted_at: null,
            })
            .returningAll()
            .executeTakeFirstOrThrow();
        });
      try {
        const made = await attempt();
        return typeof made === 'string' || 'limit' in made
          ? made
          : (await withLoggedMetrics(modelId, [made]))[0]!;
      } catch (error) {
        if (isUniqueViolation(error)) return 'taken';
        throw error;
      }
    },

    async mergeMetrics(modelId, id, metrics) {
      await database.exclusively(`checkpoints of ${modelId}`, async trx => {
        const old = await trx
          .selectFrom('checkpoints')
          .select('metrics')
          .where('model_id', '=', modelId)
          .where('id', '=', id)
          .executeTakeFirst();
        if (old === undefined) return;
        const merged = { ...(parseNatively(old.metrics) as Record<string, number>), ...metrics };
        await trx
          .updateTable('checkpoints')
          .set({ metrics: JSON.stringify(merged) })
          .where('model_id', '=', modelId)
          .where('id', '=', id)
          .execute();
      });
      return find(modelId, id);
    },

    async deleteSteps(modelId, steps) {
      if (steps.length === 0) return [];
      const deleted = await db
        .updateTable('checkpoints')
        .set({ deleted_at: now() })
        .where('model_id', '=', modelId)
        .where('step', 'in', steps)
        .where('deleted_at', 'is', null)
        .returning('step')
        .execute();
      return deleted.map(({ step }) => step);
    },

    async listServable(entity) {
      const all = selectServable();
      return (await (entity === null ? all : all.where('entity', '=', entity)).execute()).flatMap(toServable);
    },

    async findServable({ entity, project, name }, step) {
      let query = selectServable()
        .where('entity', '=', entity)
        .where('project', '=', project)
        .where('name', '=', name);
      if (step !== null) query = query.where('step', '=', step);
      return (await query.limit(1).execute()).flatMap(toServable)[0] ?? null;
    },
  };

  function selectServable() {
    return reader
      .selectFrom('checkpoints')
      .innerJoin('training_models', 'training_models.id', 'checkpoints.model_id')
      .selectAll('checkpoints')
      .select(['entity', 'project', 'name', 'base_model'])
      .where('deleted_at', 'is', null)
      .where('weights_path', 'is not', null)
      .orderBy('entity')
      .orderBy('project')
      .orderBy('name')
      .orderBy('step', 'desc');
  }
}

/** Checkpoints that are not deleted. */
async function countCheckpoints(trx: Transaction<Tables>, entity: string, modelId: string) {
  const { ofTeam, ofModel } = await trx
    .selectFrom('checkpoints')
    .innerJoin('training_models', 'training_models.id', 'checkpoints.model_id')
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('ofTeam'),
      fn.count<number>(eb.case().when('model_id', '=', modelId).then(1).end()).as('ofModel'),
    ])
    .where('entity', '=', entity)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return { ofTeam: Number(ofTeam), ofModel: Number(ofModel) };
}

function toCheckpoint(row: Row, logged: Readonly<Record<string, number>>): StoredCheckpoint {
  return {
    id: row.id,
    modelId: row.model_id,
    step: row.step,
    metrics: { ...logged, ...(parseNatively(row.metrics) as Record<string, number>) },
    weights: weightsOf(row),
    createdAtMs: row.created_at,
  };
}

function toServable(
  row: Row & { entity: string; project: string; name: string; base_model: string },
): ServableCheckpoint[] {
  const weights = weightsOf(row);
  if (weights === null) return [];
  return [
    {
      checkpointId: row.id,
      modelId: row.model_id,
      modelName: toModelReference(row),
      step: row.step,
      baseModel: row.base_model,
      weights,
      createdAtMs: row.created_at,
    },
  ];
}

function weightsOf({ weights_kind: kind, weights_path: path }: Row): CheckpointWeights | null {
  return kind === null || path === null ? null : { kind, path };
}
