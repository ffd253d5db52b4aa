// Whether a record that comes again under its id says what the stored one says. When and by whom it was stored is not
// part of that: a retry comes later, and may come with another key.

import type { FeedbackRecord } from '@ortler/api';
import { COLUMNS, type ResultRow } from '@ortler/feedback-query';

const NOT_CONTENT: ReadonlySet<string> = new Set(['id', 'project_id', 'wb_user_id', 'created_at']);

/** Compares a record with a whole stored row. */
export function isSameFeedback(record: FeedbackRecord, stored: ResultRow): boolean {
  return COLUMNS.every(({ name }) => {
    if (NOT_CONTENT.has(name)) return true;
    const sent: unknown =
      name === 'payload' ? JSON.parse(record.payload_dump) : record[name as keyof FeedbackRecord];
    return isSameJson(sent, stored[name]);
  });
}

/** Equality of JSON values; the order of keys does not count, because PostgreSQL keeps its own. */
function isSameJson(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return left === right;
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
