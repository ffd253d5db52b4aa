// Loads the stored state of every id that a batch of write commands names.

import type { ResultRow } from '@ortler/feedback-query';
import {
  bindFeedbackQuery,
  clickHouseDialect,
  compileFeedbackQuery,
  withinWindow,
} from '@ortler/feedback-query';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import { toStoredRow } from '../inserted-feedback.ts';
import type { RowVersion } from './clickhouse-row.ts';
import { findRowVersions } from './find-row-versions.ts';
import type { StoredIds } from './plan-writes.ts';
import { type IdKey, keyText, recordsOf, removedIdsOf, type WriteCommand } from './write-command.ts';

/** Whole rows per read: this many of the largest rows fit into one answer. */
const ROWS_PER_READ = 50;

/** Loads the row versions of every id of the commands, and the whole rows of ids that a command inserts. */
export async function loadStoredIds(
  clickHouse: ClickHouse,
  commands: readonly WriteCommand[],
): Promise<StoredIds> {
  const versions = new Map<string, RowVersion[]>();
  const rows = new Map<string, ResultRow>();
  const inserted = commands.flatMap(command =>
    recordsOf(command).map(({ project_id, id }) => ({ projectId: project_id, id })),
  );
  const insertedKeys = new Set(inserted.map(keyText));
  for (const [projectId, ids] of groupByProject([...inserted, ...commands.flatMap(removedIdsOf)])) {
    const current = new Map<string, number>();
    for (const { id, ...latest } of await findRowVersions(clickHouse, projectId, [...ids])) {
      const key = keyText({ projectId, id });
      versions.set(key, [...(versions.get(key) ?? []), latest]);
      if (!latest.isTombstone && insertedKeys.has(key)) current.set(id, latest.createdAtMs);
    }
    for (const row of await loadRows(clickHouse, projectId, current))
      rows.set(keyText({ projectId, id: String(row.id) }), row);
  }
  return { versions, rows };
}

/** Whole rows of ids. @param current Unit: milliseconds since 1970, the created_at of each id. */
async function loadRows(
  clickHouse: ClickHouse,
  projectId: string,
  current: ReadonlyMap<string, number>,
): Promise<readonly ResultRow[]> {
  const rows: ResultRow[] = [];
  const all = [...current];
  for (let start = 0; start < all.length; start += ROWS_PER_READ) {
    const some = all.slice(start, start + ROWS_PER_READ);
    const ids = some.map(([id]) => ({ $literal: id }));
    const query = bindFeedbackQuery({ projectId, query: { $expr: { $in: [{ $getField: 'id' }, ids] } } });
    const moments = some.map(([, createdAtMs]) => createdAtMs);
    const window = { fromMs: Math.min(...moments), toMs: Math.max(...moments) };
    const { statement, columns } = compileFeedbackQuery(withinWindow(query, window), clickHouseDialect);
    rows.push(...(await clickHouse.read(statement)).map(row => toStoredRow(columns, row)));
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
