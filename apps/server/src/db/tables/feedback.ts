// Table of feedback, as Kysely sees it. Structured columns are JSON text on SQLite, `jsonb` and `text[]` on PostgreSQL;
// only to-stored-feedback.ts writes them and only feedback-query reads them.

import type { FeedbackRecord } from '@ortler/feedback-query';

/** A value as its database takes it. */
export type StoredValue = string | null | readonly string[];

/** Columns that hold more than a text. */
type Structured =
  | 'scorer_tags'
  | 'scorer_tag_reasons'
  | 'scorer_tag_confidences'
  | 'scorer_ratings'
  | 'scorer_rating_reasons'
  | 'scorer_rating_confidences';

export type FeedbackTable = Omit<FeedbackRecord, 'created_at_ms' | Structured> & {
  readonly [Name in Structured]: StoredValue;
} & {
  /** SQLite: 24-character ISO text, whose order is time order. PostgreSQL: `timestamptz(3)`. */
  readonly created_at: StoredValue;
};
