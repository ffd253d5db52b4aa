// Deletes trajectories and checkpoints that the retention policy does not keep. Called by the command line; never
// deletes weights on disk.

import type { CheckpointStore, StoredCheckpoint } from '@ortler/api';
import { parseNatively } from '@ortler/json';
import type { Database } from '../../db/database.ts';
import { RetentionChoice, type RetentionPolicy } from './retention-policy.ts';

export interface PruneOptions extends RetentionPolicy {
  /** The metric of the best candidates. */
  readonly metric: string;
  /** Counts, but deletes nothing. */
  readonly isDryRun: boolean;
}

export interface PruneResult {
  readonly kept: number;
  readonly deleted: number;
}

/** Rows read or deleted per statement, so that a running server can write in between. */
const BATCH_ROWS = 500;
const LIST_LIMIT = 100;

/** The metric of every trajectory. */
const REWARD = 'reward';

interface Row {
  readonly order: number;
  readonly score: number | undefined;
  readonly logId: string;
}

/**
 * Keeps the newest and the best trajectories of each split.
 * @param split Null: all splits.
 */
export async function pruneTrajectories(
  database: Database,
  modelId: string,
  { split, metric, isDryRun, ...policy }: PruneOptions & { readonly split: string | null },
): Promise<PruneResult> {
  const choices = new Map<string, RetentionChoice<Row>>();
  let count = 0;
  let lastPosition = 0;
  for await (const row of readRows(database, modelId, split, metric)) {
    const choice = choices.get(row.split) ?? new RetentionChoice<Row>(policy);
    choices.set(row.split, choice);
    choice.add(row);
    count++;
    lastPosition = row.order;
  }
  const kept = [...choices.values()].flatMap(choice => [...choice.kept()]);
  const result = { kept: kept.length, deleted: count - kept.length };
  if (isDryRun) return result;
  const keptPositions = new Set(kept.map(({ order }) => order));
  const keptLogs = new Set(kept.map(({ logId }) => logId));
  const emptiedLogs = new Set<string>();
  let batch: number[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    const positions = batch;
    batch = [];
    await database.db
      .deleteFrom('trajectories')
      .where('model_id', '=', modelId)
      .where('position', 'in', positions)
      .execute();
  };
  for await (const { order, logId } of readRows(database, modelId, split, metric)) {
    // Trajectories logged since the selection are kept.
    if (order > lastPosition) break;
    if (keptPositions.has(order)) continue;
    if (!keptLogs.has(logId)) emptiedLogs.add(logId);
    batch.push(order);
    if (batch.length === BATCH_ROWS) await flush();
  }
  await flush();
  for (const logId of emptiedLogs)
    await database.db
      .deleteFrom('trajectory_groups')
      .where('model_id', '=', modelId)
      .where('log_id', '=', logId)
      .execute();
  return result;
}

/** Always keeps the newest checkpoint, which is the model's current step. */
export async function pruneCheckpoints(
  checkpoints: CheckpointStore,
  modelId: string,
  { metric, isDryRun, newestCount, bestCount }: PruneOptions,
): Promise<PruneResult> {
  const choice = new RetentionChoice<{ order: number; score: number | undefined }>({
    newestCount: Math.max(1, newestCount),
    bestCount,
  });
  const steps: number[] = [];
  for await (const { step, metrics } of walkCheckpoints(checkpoints, modelId)) {
    choice.add({ order: step, score: metrics[metric] });
    steps.push(step);
  }
  const kept = new Set([...choice.kept()].map(({ order }) => order));
  const expired = steps.filter(step => !kept.has(step));
  if (!isDryRun)
    for (let start = 0; start < expired.length; start += BATCH_ROWS)
      await checkpoints.deleteSteps(modelId, expired.slice(start, start + BATCH_ROWS));
  return { kept: kept.size, deleted: expired.length };
}

async function* walkCheckpoints(
  checkpoints: CheckpointStore,
  modelId: string,
): AsyncGenerator<StoredCheckpoint> {
  for (let after: string | null = null; ; ) {
    const page = await checkpoints.list(modelId, { after, limit: LIST_LIMIT, order: 'asc' });
    if (page === null) return;
    yield* page.checkpoints;
    if (!page.hasMore) return;
    after = page.checkpoints.at(-1)!.id;
  }
}

async function* readRows(
  { db }: Database,
  modelId: string,
  split: string | null,
  metric: string,
): AsyncGenerator<Row & { readonly split: string }> {
  for (let after = 0; ; ) {
    let query = db
      .selectFrom('trajectories')
      .select(['position', 'split', 'reward', 'metrics', 'log_id'])
      .where('model_id', '=', modelId)
      .where('position', '>', after);
    if (split !== null) query = query.where('split', '=', split);
    const rows = await query.orderBy('position').limit(BATCH_ROWS).execute();
    for (const row of rows) {
      const metrics = parseNatively(row.metrics) as Readonly<Record<string, number | boolean>>;
      const value = metric === REWARD ? row.reward : metrics[metric];
      const score = value === undefined ? undefined : Number(value);
      yield { order: row.position, split: row.split, score, logId: row.log_id };
    }
    if (rows.length < BATCH_ROWS) return;
    after = rows.at(-1)!.position;
  }
}
