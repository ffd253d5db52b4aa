// A record of the api -> the row of a database.

import type { FeedbackRecord } from '@ortler/api';
import type { DatabaseKind } from '../../db/database.ts';
import type { FeedbackTable } from '../../db/tables/feedback.ts';

/** The row to insert. */
export function toStoredFeedback(kind: DatabaseKind, record: FeedbackRecord): FeedbackTable {
  const { created_at_ms, ...same } = record;
  return {
    ...same,
    created_at: new Date(created_at_ms).toISOString(),
    scorer_tags: kind === 'postgres' ? record.scorer_tags : JSON.stringify(record.scorer_tags),
    scorer_tag_reasons: JSON.stringify(record.scorer_tag_reasons),
    scorer_tag_confidences: JSON.stringify(record.scorer_tag_confidences),
    scorer_ratings: JSON.stringify(record.scorer_ratings),
    scorer_rating_reasons: JSON.stringify(record.scorer_rating_reasons),
    scorer_rating_confidences: JSON.stringify(record.scorer_rating_confidences),
  };
}
