// Looks up row versions by id in the projection `by_id`: a lookup reads a few granules, however large the table is.

import { CompiledQuery } from 'kysely';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import type { RowVersion } from './clickhouse-row.ts';

/** Ids per statement: their text together stays far below the largest parameter. */
const IDS_PER_LOOKUP = 100;

const LATEST_VERSIONS = `
  SELECT id, toUnixTimestamp64Milli(created_at) AS created_at_ms,
    max(version) AS latest_version, argMax(is_removed, version) AS is_tombstone
  FROM feedback
  WHERE project_id = {p1:String} AND id IN {p2:Array(String)}
  GROUP BY id, created_at`;

interface VersionRow {
  readonly id: string;
  readonly created_at_ms: number;
  readonly latest_version: number;
  readonly is_tombstone: number;
}

/** The latest row version of every key (project, created_at, id) of these ids, tombstones included. */
export async function findRowVersions(
  clickHouse: ClickHouse,
  projectId: string,
  ids: readonly string[],
): Promise<readonly (RowVersion & { readonly id: string })[]> {
  const versions: (RowVersion & { readonly id: string })[] = [];
  for (let start = 0; start < ids.length; start += IDS_PER_LOOKUP) {
    const some = ids.slice(start, start + IDS_PER_LOOKUP);
    const statement = CompiledQuery.raw(LATEST_VERSIONS, [projectId, some]) as CompiledQuery<VersionRow>;
    for (const row of await clickHouse.read(statement, { withReplaced: true }))
      versions.push({
        id: row.id,
        createdAtMs: row.created_at_ms,
        version: row.latest_version,
        isTombstone: row.is_tombstone === 1,
      });
  }
  return versions;
}
