// Sum and count of each metric by split and step. Each log call adds its own, so the mean is over all calls.

import { type MeanTally, meanOf, type SplitMetric } from '@ortler/api';
import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/** Rows per statement, because databases limit its parameters. */
const BATCH_ROWS = 200;

/** Adds the sums and counts of one call. */
export async function addTallies(
  trx: Kysely<Tables>,
  { modelId, split, step }: { readonly modelId: string; readonly split: string; readonly step: number },
  tallies: ReadonlyMap<string, MeanTally>,
): Promise<void> {
  const rows = [...tallies].map(([name, tally]) => ({ model_id: modelId, split, step, name, ...tally }));
  for (let start = 0; start < rows.length; start += BATCH_ROWS)
    await trx
      .insertInto('split_metrics')
      .values(rows.slice(start, start + BATCH_ROWS))
      .onConflict(conflict =>
        conflict.columns(['model_id', 'split', 'step', 'name']).doUpdateSet(({ eb, ref }) => ({
          total: eb(ref('split_metrics.total'), '+', ref('excluded.total')),
          count: eb(ref('split_metrics.count'), '+', ref('excluded.count')),
        })),
      )
      .execute();
}

/** Means, ordered by split, step and name. */
export async function readSplitMetrics(
  db: Kysely<Tables>,
  modelId: string,
  { split, steps }: { readonly split?: string | null; readonly steps?: readonly number[] },
): Promise<SplitMetric[]> {
  let query = db.selectFrom('split_metrics').selectAll().where('model_id', '=', modelId);
  if (split != null) query = query.where('split', '=', split);
  if (steps !== undefined) query = query.where('step', 'in', steps);
  const rows = await query.orderBy('split').orderBy('step').orderBy('name').execute();
  return rows.map(({ split: name, step, name: metric, total, count }) => ({
    split: name,
    step,
    name: metric,
    value: meanOf({ total, count }),
    count,
  }));
}
