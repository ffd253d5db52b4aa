// Kysely type of the `feedback` table. Structured columns are JSON text on SQLite, `jsonb` and `text[]` on PostgreSQL.
// stores/feedback/feedback-store.ts writes them; queries compiled by feedback-query read them.

import type { FeedbackRecord } from '@ortler/feedback-query';

/** A value in the form that its database accepts. */
export type StoredValue = string | null | readonly string[];

/** List and map columns. */
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
