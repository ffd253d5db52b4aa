// The lives of ids, from the projection by id: a lookup reads a few granules however large the table is.

import { CompiledQuery } from 'kysely';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import type { Life } from './clickhouse-row.ts';

/** Ids of one statement: their texts together are far below what a parameter takes. */
const IDS_PER_LOOKUP = 100;

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

/** All lives of these ids of a project, ended ones too. */
export async function findLives(
  clickHouse: ClickHouse,
  projectId: string,
  ids: readonly string[],
): Promise<readonly (Life & { readonly id: string })[]> {
  const lives: (Life & { readonly id: string })[] = [];
  for (let start = 0; start < ids.length; start += IDS_PER_LOOKUP) {
    const some = ids.slice(start, start + IDS_PER_LOOKUP);
    const statement = CompiledQuery.raw(LIVES, [projectId, some]) as CompiledQuery<LifeRow>;
    for (const { id, created_at_ms, last_version, is_ended } of await clickHouse.read(statement, {
      withReplaced: true,
    }))
      lives.push({ id, createdAtMs: created_at_ms, version: last_version, isRemoved: is_ended === 1 });
  }
  return lives;
}
