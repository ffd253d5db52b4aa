// The trajectory store. Each log call is one transaction; trajectories are listed in commit order.

import { randomUUID } from 'node:crypto';
import type {
  StoredTrajectory,
  StoredTrajectoryLog,
  TrajectoryFilter,
  TrajectoryLog,
  TrajectoryStore,
} from '@ortler/api';
import { parseNatively } from '@ortler/json';
import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { TrajectoriesTable, TrajectoryGroupsTable } from '../../db/tables/training.ts';
import type { Tables } from '../../db/tables.ts';
import type { LogReader } from './log-reader.ts';
import { newestStep } from './newest-step.ts';
import { addTallies, readSplitMetrics } from './split-metrics.ts';
import type { ReadableSpool, SpooledRecord } from './trajectory-spool.ts';

/** Largest write of one statement: rows, and text in UTF-16 code units. To write down either takes a millisecond or two. */
const BATCH_ROWS = 32;
const BATCH_LENGTH = 1024 * 1024;
/** Largest page. Unit: UTF-16 code units of JSON text. */
const PAGE_LENGTH = 8 * 1024 * 1024;

export interface TrajectoryStoreOptions {
  readonly logReader: Pick<LogReader, 'read'>;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}

export function createTrajectoryStore(
  database: Database,
  { logReader, now }: TrajectoryStoreOptions,
): TrajectoryStore {
  /** The last append of each model that has one. */
  const appends = new Map<string, Promise<unknown>>();
  return {
    readLog: (body, options) => logReader.read(body, options),
    // Those to one model wait for each other here, where they take no connection: the row of the model lets one in at a time.
    async append(modelId, log) {
      const run = () => database.transaction(trx => append(trx, modelId, log, now()));
      const appended = (appends.get(modelId) ?? Promise.resolve()).then(run, run);
      appends.set(modelId, appended);
      try {
        return await appended;
      } finally {
        if (appends.get(modelId) === appended) appends.delete(modelId);
      }
    },
    list: (modelId, filter, options) => list(database.reader, modelId, filter, options),
    listMetrics: (modelId, { split }) => readSplitMetrics(database.reader, modelId, { split }),
  };
}

async function append(
  trx: Kysely<Tables>,
  modelId: string,
  log: TrajectoryLog,
  loggedAtMs: number,
): Promise<StoredTrajectoryLog | 'unknown-model' | 'key-reused'> {
  const { split, groupCount, trajectoryCount, idempotency, signal } = log;
  signal?.throwIfAborted();
  // Updating the position locks the model's row until the commit, so appends to one model commit in the order of their
  // positions: a reader that has seen a position has seen all lower ones.
  const model = await trx
    .updateTable('training_models')
    .set(({ eb }) => ({ last_position: eb('last_position', '+', trajectoryCount) }))
    .where('id', '=', modelId)
    .returning('last_position')
    .executeTakeFirst();
  if (model === undefined) return 'unknown-model';
  const known = idempotency === null ? undefined : await findByKey(trx, modelId, idempotency.key);
  if (known !== undefined) {
    if (known.body_digest !== idempotency?.digest) return 'key-reused';
    const { id, step, group_count, trajectory_count } = known;
    return { id, step, groupCount: group_count, trajectoryCount: trajectory_count };
  }
  const step = log.step ?? (await newestStep(trx, modelId)) ?? 0;
  const id = randomUUID();
  await trx
    .insertInto('trajectory_logs')
    .values({
      id,
      model_id: modelId,
      split,
      step,
      group_count: groupCount,
      trajectory_count: trajectoryCount,
      idempotency_key: idempotency?.key ?? null,
      body_digest: idempotency?.digest ?? null,
      created_at: loggedAtMs,
    })
    .execute();
  await insertRecords(trx, log.spool as ReadableSpool, {
    modelId,
    logId: id,
    split,
    step,
    loggedAtMs,
    firstPosition: model.last_position - trajectoryCount + 1,
    signal,
  });
  await addTallies(trx, { modelId, split, step }, log.tallies);
  return { id, step, groupCount, trajectoryCount };
}

function findByKey(trx: Kysely<Tables>, modelId: string, key: string) {
  return trx
    .selectFrom('trajectory_logs')
    .selectAll()
    .where('model_id', '=', modelId)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
}

interface LogPlace {
  readonly modelId: string;
  readonly logId: string;
  readonly split: string;
  readonly step: number;
  readonly loggedAtMs: number;
  readonly firstPosition: number;
  readonly signal: AbortSignal | undefined;
}

async function insertRecords(trx: Kysely<Tables>, spool: ReadableSpool, place: LogPlace): Promise<void> {
  let trajectories: Insertable<TrajectoriesTable>[] = [];
  let groups: Insertable<TrajectoryGroupsTable>[] = [];
  let length = 0;
  let position = place.firstPosition;
  const flush = async () => {
    place.signal?.throwIfAborted();
    if (trajectories.length > 0) await trx.insertInto('trajectories').values(trajectories).execute();
    if (groups.length > 0) await trx.insertInto('trajectory_groups').values(groups).execute();
    trajectories = [];
    groups = [];
    length = 0;
  };
  for await (const record of spool.records()) {
    if (record.kind === 'trajectory') trajectories.push(toRow(record, place, position++));
    else {
      const { groupIndex, json } = record;
      groups.push({ log_id: place.logId, model_id: place.modelId, group_index: groupIndex, json });
    }
    length += record.json.length;
    if (trajectories.length + groups.length >= BATCH_ROWS || length >= BATCH_LENGTH) await flush();
  }
  await flush();
}

function toRow(
  record: SpooledRecord & { readonly kind: 'trajectory' },
  { modelId, logId, split, step, loggedAtMs }: LogPlace,
  position: number,
): Insertable<TrajectoriesTable> {
  return {
    model_id: modelId,
    position,
    log_id: logId,
    group_index: record.groupIndex,
    trajectory_index: record.trajectoryIndex,
    split,
    step,
    reward: record.reward,
    initial_policy_version: record.initialPolicyVersion,
    final_policy_version: record.finalPolicyVersion,
    metrics: JSON.stringify(record.metrics),
    trainable_items: JSON.stringify(record.trainableItems),
    start_time: record.startTimeMs,
    logged_at: loggedAtMs,
    json_length: record.json.length,
    json: record.json,
  };
}

async function list(
  reader: Kysely<Tables>,
  modelId: string,
  filter: TrajectoryFilter,
  { afterPosition, limit }: { readonly afterPosition: number; readonly limit: number },
): ReturnType<TrajectoryStore['list']> {
  const { split, step, minReward, maxReward, loggedFromMs, loggedBeforeMs } = filter;
  let query = reader
    .selectFrom('trajectories')
    .select(FLAT_COLUMNS)
    .where('model_id', '=', modelId)
    .where('position', '>', afterPosition);
  if (split !== null) query = query.where('split', '=', split);
  if (step !== null) query = query.where('step', '=', step);
  if (minReward !== null) query = query.where('reward', '>=', minReward);
  if (maxReward !== null) query = query.where('reward', '<=', maxReward);
  if (loggedFromMs !== null) query = query.where('logged_at', '>=', loggedFromMs);
  if (loggedBeforeMs !== null) query = query.where('logged_at', '<', loggedBeforeMs);
  const rows = await query
    .orderBy('position')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, Math.min(limit, countOfPage(rows)));
  if (page.length === 0) return { trajectories: [], hasMore: false };
  const texts = await reader
    .selectFrom('trajectories')
    .select(['position', 'json'])
    .where('model_id', '=', modelId)
    .where(
      'position',
      'in',
      page.map(({ position }) => position),
    )
    .execute();
  const textOf = new Map(texts.map(({ position, json }) => [position, json]));
  // Rows pruned between the two reads are skipped.
  const found = page.filter(({ position }) => textOf.has(position));
  return {
    trajectories: found.map(row => toTrajectory(row, textOf.get(row.position)!)),
    hasMore: rows.length > page.length,
  };
}

const FLAT_COLUMNS = [
  'position',
  'log_id',
  'group_index',
  'trajectory_index',
  'split',
  'step',
  'reward',
  'initial_policy_version',
  'final_policy_version',
  'metrics',
  'trainable_items',
  'start_time',
  'logged_at',
  'json_length',
] as const satisfies readonly (keyof TrajectoriesTable)[];

type FlatRow = Pick<Selectable<TrajectoriesTable>, (typeof FLAT_COLUMNS)[number]>;

/** Number of rows that fit into a page, at least one. */
function countOfPage(rows: readonly FlatRow[]): number {
  let length = 0;
  const end = rows.findIndex(row => {
    length += row.json_length;
    return length > PAGE_LENGTH;
  });
  return end === -1 ? rows.length : Math.max(1, end);
}

function toTrajectory(row: FlatRow, json: string): StoredTrajectory {
  return {
    position: row.position,
    logId: row.log_id,
    groupIndex: row.group_index,
    trajectoryIndex: row.trajectory_index,
    split: row.split,
    step: row.step,
    reward: row.reward,
    initialPolicyVersion: row.initial_policy_version,
    finalPolicyVersion: row.final_policy_version,
    metrics: parseNatively(row.metrics) as Record<string, number | boolean>,
    trainableItems: JSON.parse(row.trainable_items) as number[],
    startTimeMs: row.start_time,
    loggedAtMs: row.logged_at,
    json,
  };
}
