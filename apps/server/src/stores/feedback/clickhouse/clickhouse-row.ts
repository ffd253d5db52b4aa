// Rows of the ClickHouse feedback table (ReplacingMergeTree). Rows with the same key (project, created_at, id) are
// versions of one row: the highest version is current, and a tombstone (is_removed = 1) deletes the row.

import { ApiError, type FeedbackRecord } from '@ortler/api';
import { toClickHouseInteger } from '@ortler/feedback-query';
import { replaceBigIntegers } from '@ortler/json';

/** The latest row version of one key. An id has one key for each created_at it was ever stored with. */
export interface RowVersion {
  readonly createdAtMs: number;
  readonly version: number;
  readonly isTombstone: boolean;
}

/** Range of DateTime64. */
const MIN_MOMENT_MS = Date.parse('1900-01-01T00:00:00.000Z');
const MAX_MOMENT_MS = Date.parse('2299-12-31T23:59:59.999Z');

/** A row that stores the record. Throws: `ApiError` `invalid_parameter` for a moment outside DateTime64. */
export function toVersionRow(record: FeedbackRecord, version: number): object {
  const { created_at_ms, payload_dump, ...same } = record;
  if (created_at_ms < MIN_MOMENT_MS || created_at_ms > MAX_MOMENT_MS)
    throw new ApiError('invalid_parameter', 'created_at must lie in the years 1900 to 2299', {
      param: 'created_at',
    });
  return {
    ...same,
    version,
    created_at: toClickHouseMoment(created_at_ms),
    payload_dump: replaceBigIntegers(payload_dump, toClickHouseInteger),
  };
}

/** The tombstone that follows the latest version of a row. */
export function toTombstone(
  projectId: string,
  id: string,
  { createdAtMs, version }: Pick<RowVersion, 'createdAtMs' | 'version'>,
): object {
  return {
    project_id: projectId,
    created_at: toClickHouseMoment(createdAtMs),
    id,
    version: version + 1,
    is_removed: 1,
  };
}

function toClickHouseMoment(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('T', ' ').replace('Z', '');
}
