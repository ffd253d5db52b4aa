// Idempotent inserts. A record whose id is stored already must have the same content: then the insert answers with the
// stored row, else it is a conflict. Who stored the row and when is no part of its content, because a retry comes
// later and may use another key.

import { ApiError, type FeedbackRecord, type InsertedFeedback } from '@ortler/api';
import { COLUMNS, type ResultColumn, type ResultRow, toRowText } from '@ortler/feedback-query';
import { parseLosslessJson, parseNatively } from '@ortler/json';

/** The answer for a record that is new. */
export function asNew(record: FeedbackRecord): InsertedFeedback {
  return { isNew: true, createdAtMs: record.created_at_ms, userId: record.wb_user_id };
}

/** A whole row of the database, to compare with: the payload, which may be large, stays JSON text. */
export function toStoredRow(columns: readonly ResultColumn[], row: ResultRow): ResultRow {
  const payload = columns.find(({ key }) => key === 'payload')!;
  const others = columns.filter(column => column !== payload);
  return { ...(parseNatively(toRowText(others, row)) as ResultRow), payload: row[payload.column] };
}

/**
 * The answer for a record whose id is stored already.
 * @param row The whole stored row, with the payload as JSON text.
 * Throws: `ApiError` `conflict` when the content differs.
 */
export function asStored(record: FeedbackRecord, row: ResultRow): InsertedFeedback {
  if (!isSameFeedback(record, row))
    throw new ApiError('conflict', `There is other feedback under the id ${record.id}`, { param: 'id' });
  return {
    isNew: false,
    createdAtMs: Date.parse(String(row.created_at)),
    userId: String(row.wb_user_id),
  };
}

const NOT_CONTENT: ReadonlySet<string> = new Set(['id', 'project_id', 'wb_user_id', 'created_at']);

/** @param stored As for `asStored`. */
export function isSameFeedback(record: FeedbackRecord, stored: ResultRow): boolean {
  return COLUMNS.every(({ name }) => {
    if (NOT_CONTENT.has(name)) return true;
    if (name === 'payload') return isSameJsonText(record.payload_dump, String(stored.payload));
    return isSameJson(record[name as keyof FeedbackRecord], stored[name]);
  });
}

/** Most databases give the text back that they were given: then nothing needs to be parsed. */
function isSameJsonText(left: string, right: string): boolean {
  return left === right || isSameJson(parseLosslessJson(left), parseLosslessJson(right));
}

/** Equality of JSON values; the order of keys does not count, because PostgreSQL keeps its own. */
function isSameJson(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return left === right || isSameNumber(left, right);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [leftEntries, rightKeys] = [Object.entries(left), Object.keys(right)];
  return (
    leftEntries.length === rightKeys.length &&
    leftEntries.every(
      ([key, value]) =>
        Object.hasOwn(right, key) && isSameJson(value, (right as Record<string, unknown>)[key]),
    )
  );
}

/** ClickHouse has a double where the text of the record has the digits of an integer beyond 64 bits. */
function isSameNumber(left: unknown, right: unknown): boolean {
  const areBoth =
    typeof left === 'bigint'
      ? typeof right === 'number'
      : typeof left === 'number' && typeof right === 'bigint';
  return areBoth && Number(left) === Number(right);
}
