// Rows of the ClickHouse table: a life of an id, and the row that ends it.

import { ApiError, type FeedbackRecord } from '@ortler/api';
import { toClickHousePayload } from '@ortler/feedback-query';

/** One life of an id: made at a moment, ended by a row of the same key with a higher version. */
export interface Life {
  readonly createdAtMs: number;
  /** Highest version of the key. */
  readonly version: number;
  readonly isRemoved: boolean;
}

/** Moments that DateTime64 holds. */
const MIN_MOMENT_MS = Date.parse('1900-01-01T00:00:00.000Z');
const MAX_MOMENT_MS = Date.parse('2299-12-31T23:59:59.999Z');

/** The row that begins a life. Throws: `ApiError` `invalid_parameter` for a moment that ClickHouse does not hold. */
export function toLifeRow(record: FeedbackRecord, version: number): object {
  const { created_at_ms, payload_dump, ...same } = record;
  if (created_at_ms < MIN_MOMENT_MS || created_at_ms > MAX_MOMENT_MS)
    throw new ApiError('invalid_parameter', 'created_at must lie in the years 1900 to 2299', {
      param: 'created_at',
    });
  return {
    ...same,
    version,
    created_at: toClickHouseMoment(created_at_ms),
    payload_dump: toClickHousePayload(JSON.parse(payload_dump) as Record<string, unknown>),
  };
}

/** The row that ends a life. */
export function toEndRow(projectId: string, id: string, { createdAtMs, version }: Life): object {
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
