// Reads in time windows, so that "the newest hundred" does not read the whole project. ClickHouse cannot read
// backwards through rows that `final` may have to merge. So a query that is sorted by time runs on a window of a few
// thousand rows first, then on one sixteen times as large, and at last on all rows. A window bounds the rows that are
// read, never the answer: once a window gives a full page, that page is the first page of the whole answer. A query
// by id reads only the moments at which these ids were stored.

import type { FeedbackReading } from '@ortler/api';
import {
  type BoundFeedbackQuery,
  clickHouseDialect,
  compileFeedbackQuery,
  cursorMoment,
  pinnedIds,
  type SortDirection,
  type TimeWindow,
  timeDirection,
  withinWindow,
} from '@ortler/feedback-query';
import { CompiledQuery } from 'kysely';
import type { ClickHouse } from '../../../db/clickhouse/clickhouse.ts';
import type { JsonPage } from '../../../db/json-page.ts';
import { findRowVersions } from './find-row-versions.ts';

/** Rows of the first window, and the growth from one window to the next. */
const FIRST_WINDOW_ROWS = 4_096;
const GROWTH = 16;
/** A larger window saves little; all rows are read instead. */
const LAST_WINDOW_ROWS = 2_000_000;

/** Runs a query and gives a page of its rows. */
export async function readInWindows(
  clickHouse: ClickHouse,
  query: BoundFeedbackQuery,
  { maxBytes, signal }: FeedbackReading,
): Promise<JsonPage> {
  const run = (bounded: BoundFeedbackQuery): Promise<JsonPage> => {
    const { statement, columns } = compileFeedbackQuery(bounded, clickHouseDialect);
    return clickHouse.readPage(statement, { columns, maxBytes }, { signal });
  };
  const ids = pinnedIds(query);
  if (ids !== null) return run(withinWindow(query, await windowOfIds(clickHouse, query.projectId, ids)));
  const direction = timeDirection(query);
  const wanted = query.offset + query.limit;
  if (direction !== null)
    for (let size = FIRST_WINDOW_ROWS; size <= LAST_WINDOW_ROWS; size *= GROWTH) {
      if (size < wanted) continue;
      const window = await findWindow(clickHouse, query, { direction, size, signal });
      if (window === null) break;
      const page = await run(withinWindow(query, window));
      if (page.isCut || page.rowCount === query.limit) return page;
    }
  return run(query);
}

/** The window that holds all row versions of the ids; an empty window when there are none. */
async function windowOfIds(
  clickHouse: ClickHouse,
  projectId: string,
  ids: readonly string[],
): Promise<TimeWindow> {
  const moments = (await findRowVersions(clickHouse, projectId, ids)).map(({ createdAtMs }) => createdAtMs);
  return moments.length === 0
    ? { fromMs: 1, toMs: 0 }
    : { fromMs: Math.min(...moments), toMs: Math.max(...moments) };
}

/**
 * The window of the first `size` row versions from the cursor on; null when there are no more than that.
 * Reads the sorting key columns only.
 */
async function findWindow(
  clickHouse: ClickHouse,
  query: BoundFeedbackQuery,
  {
    direction,
    size,
    signal,
  }: {
    readonly direction: SortDirection;
    readonly size: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<TimeWindow | null> {
  const cursorMs = cursorMoment(query);
  const [comparison, start] = direction === 'asc' ? ['>=', MIN_MOMENT] : ['<=', MAX_MOMENT];
  const from =
    cursorMs === null ? start : new Date(cursorMs).toISOString().replace('T', ' ').replace('Z', '');
  const sql = `
    SELECT toUnixTimestamp64Milli(created_at) AS created_at_ms FROM feedback
    WHERE project_id = {p1:String} AND created_at ${comparison} toDateTime64({p2:String}, 3, 'UTC')
    ORDER BY project_id ${direction}, created_at ${direction} LIMIT 1 OFFSET {p3:UInt64}`;
  const statement = CompiledQuery.raw(sql, [query.projectId, from, BigInt(size)]) as CompiledQuery<{
    readonly created_at_ms: number;
  }>;
  const [row] = await clickHouse.read(statement, { withReplaced: true, signal });
  if (row === undefined) return null;
  return direction === 'asc' ? { toMs: row.created_at_ms } : { fromMs: row.created_at_ms };
}

const MIN_MOMENT = '1900-01-01 00:00:00.000';
const MAX_MOMENT = '2299-12-31 23:59:59.999';
