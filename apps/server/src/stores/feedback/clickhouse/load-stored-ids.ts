// What ClickHouse holds under the ids that a block of writes is about. Lives come from the projection by id, so a lookup
// reads a few granules however large the table is.

import type { ResultRow } from '@ortler/feedback-query';
import {
  bindFeedbackQuery,
  clickHouseDialect,
  compileFeedbackQuery,
  withinWindow,
} from '@ortler/feedback-query';
import { CompiledQuery } from 'kysely';
import type { ClickHouse } from '../../../db/clickhouse/open-clickhouse.ts';
import type { Life } from './clickhouse-row.ts';
import type { StoredIds } from './plan-writes.ts';
import { type IdKey, keyText, recordsOf, removedIdsOf, type WriteOrder } from './write-order.ts';

/** Ids of one lookup: as many as a query may list, in parameters far below what the server takes. */
const IDS_PER_LOOKUP = 500;

const LIVES = `
  SELECT id, toUnixTimestamp64Milli(created_at) AS created_at_ms,
    max(version) AS last_version, argMax(is_removed, version) AS is_ended
  FROM feedback WHERE project_id = {p1:String} AND id IN {p2:Array(String)}
  GROUP BY id, created_at`;

interface LifeRow {
  readonly id: string;
  readonly created_at_ms: number;
  readonly last_version: number;
  readonly is_ended: number;
}

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
  for (const { projectId, ids } of groupIds([...wanted, ...orders.flatMap(removedIdsOf)])) {
    const found = await clickHouse.read(
      CompiledQuery.raw(LIVES, [projectId, ids]) as CompiledQuery<LifeRow>,
      { withReplaced: true },
    );
    const living = new Map<string, number>();
    for (const { id, created_at_ms, last_version, is_ended } of found) {
      const key = keyText({ projectId, id });
      const life = { createdAtMs: created_at_ms, version: last_version, isRemoved: is_ended === 1 };
      lives.set(key, [...(lives.get(key) ?? []), life]);
      if (!life.isRemoved && isWanted.has(key)) living.set(id, created_at_ms);
    }
    for (const row of await loadRows(clickHouse, projectId, living))
      rows.set(keyText({ projectId, id: String(row.id) }), row);
  }
  return { lives, rows };
}

async function loadRows(
  clickHouse: ClickHouse,
  projectId: string,
  living: ReadonlyMap<string, number>,
): Promise<readonly ResultRow[]> {
  if (living.size === 0) return [];
  const moments = [...living.values()];
  const query = bindFeedbackQuery({
    projectId,
    query: { $expr: { $in: [{ $getField: 'id' }, [...living.keys()].map(id => ({ $literal: id }))] } },
  });
  const window = { fromMs: Math.min(...moments), toMs: Math.max(...moments) };
  const { statement, toResult } = compileFeedbackQuery(withinWindow(query, window), clickHouseDialect);
  return (await clickHouse.read(statement)).map(toResult);
}

/** Distinct ids by project, a lookup's worth at a time. */
function groupIds(keys: readonly IdKey[]): readonly { readonly projectId: string; readonly ids: string[] }[] {
  const byProject = new Map<string, Set<string>>();
  for (const { projectId, id } of keys) {
    const ids = byProject.get(projectId) ?? new Set();
    byProject.set(projectId, ids.add(id));
  }
  return [...byProject].flatMap(([projectId, set]) => {
    const ids = [...set];
    const groups: string[][] = [];
    for (let start = 0; start < ids.length; start += IDS_PER_LOOKUP)
      groups.push(ids.slice(start, start + IDS_PER_LOOKUP));
    return groups.map(group => ({ projectId, ids: group }));
  });
}
