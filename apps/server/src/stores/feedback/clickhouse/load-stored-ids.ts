// What ClickHouse holds under the ids that a block of writes is about.

import type { ResultRow } from '@ortler/feedback-query';
import {
  bindFeedbackQuery,
  clickHouseDialect,
  compileFeedbackQuery,
  withinWindow,
} from '@ortler/feedback-query';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import type { Life } from './clickhouse-row.ts';
import { findLives } from './find-lives.ts';
import type { StoredIds } from './plan-writes.ts';
import { type IdKey, keyText, recordsOf, removedIdsOf, type WriteOrder } from './write-order.ts';

/** Whole rows fetched at once: as many of the largest as fit into one answer. */
const ROWS_PER_READ = 50;

/** Looks up every id of the orders, and the whole rows of those that an order wants to store. */
export async function loadStoredIds(
  clickHouse: ClickHouse,
  orders: readonly WriteOrder[],
): Promise<StoredIds> {
  const lives = new Map<string, Life[]>();
  const rows = new Map<string, ResultRow>();
  const wanted = orders.flatMap(order =>
    recordsOf(order).map(({ project_id, id }) => ({ projectId: project_id, id })),
  );
  const isWanted = new Set(wanted.map(keyText));
  for (const [projectId, ids] of groupByProject([...wanted, ...orders.flatMap(removedIdsOf)])) {
    const living = new Map<string, number>();
    for (const { id, ...life } of await findLives(clickHouse, projectId, [...ids])) {
      const key = keyText({ projectId, id });
      lives.set(key, [...(lives.get(key) ?? []), life]);
      if (!life.isRemoved && isWanted.has(key)) living.set(id, life.createdAtMs);
    }
    for (const row of await loadRows(clickHouse, projectId, living))
      rows.set(keyText({ projectId, id: String(row.id) }), row);
  }
  return { lives, rows };
}

/** Whole rows of living ids, by the moment each was made. */
async function loadRows(
  clickHouse: ClickHouse,
  projectId: string,
  living: ReadonlyMap<string, number>,
): Promise<readonly ResultRow[]> {
  const rows: ResultRow[] = [];
  const all = [...living];
  for (let start = 0; start < all.length; start += ROWS_PER_READ) {
    const some = all.slice(start, start + ROWS_PER_READ);
    const ids = some.map(([id]) => ({ $literal: id }));
    const query = bindFeedbackQuery({ projectId, query: { $expr: { $in: [{ $getField: 'id' }, ids] } } });
    const moments = some.map(([, createdAtMs]) => createdAtMs);
    const window = { fromMs: Math.min(...moments), toMs: Math.max(...moments) };
    const { statement, toResult } = compileFeedbackQuery(withinWindow(query, window), clickHouseDialect);
    rows.push(...(await clickHouse.read(statement)).map(toResult));
  }
  return rows;
}

/** Distinct ids by project. */
function groupByProject(keys: readonly IdKey[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byProject = new Map<string, Set<string>>();
  for (const { projectId, id } of keys) {
    const ids = byProject.get(projectId) ?? new Set();
    byProject.set(projectId, ids.add(id));
  }
  return byProject;
}
