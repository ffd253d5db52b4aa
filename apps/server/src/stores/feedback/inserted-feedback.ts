// The rule for a record whose id is stored already: the same content is what it was, other content is a conflict.

import { ApiError, type FeedbackRecord, type InsertedFeedback } from '@ortler/api';
import type { ResultRow } from '@ortler/feedback-query';
import { isSameFeedback } from './same-feedback.ts';

/** What an insert says of a record that is new. */
export function asNew(record: FeedbackRecord): InsertedFeedback {
  return { createdAtMs: record.created_at_ms, userId: record.wb_user_id };
}

/**
 * What an insert says of a record whose id is taken by a whole stored row.
 * Throws: `ApiError` `conflict` for other content.
 */
export function asStored(record: FeedbackRecord, row: ResultRow): InsertedFeedback {
  if (!isSameFeedback(record, row))
    throw new ApiError('conflict', `There is other feedback under the id ${record.id}`, { param: 'id' });
  return { createdAtMs: Date.parse(String(row.created_at)), userId: String(row.wb_user_id) };
}
