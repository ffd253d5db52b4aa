// Table of feedback, as Kysely sees it. Structured columns are JSON text on SQLite, `jsonb` and `text[]` on PostgreSQL;
// only to-stored-feedback.ts writes them and only feedback-query reads them.

/** A value as its database takes it. */
export type StoredValue = string | null | readonly string[];

export interface FeedbackTable {
  readonly id: string;
  readonly project_id: string;
  readonly weave_ref: string;
  readonly wb_user_id: string;
  readonly creator: string | null;
  /** SQLite: 24-character ISO text, whose order is time order. PostgreSQL: `timestamptz(3)`. */
  readonly created_at: StoredValue;
  readonly feedback_type: string;
  readonly payload_dump: string;
  readonly annotation_ref: string | null;
  readonly runnable_ref: string | null;
  readonly call_ref: string | null;
  readonly trigger_ref: string | null;
  readonly queue_id: string | null;
  readonly scorer_tags: StoredValue;
  readonly scorer_tag_reasons: StoredValue;
  readonly scorer_tag_confidences: StoredValue;
  readonly scorer_ratings: StoredValue;
  readonly scorer_rating_reasons: StoredValue;
  readonly scorer_rating_confidences: StoredValue;
  readonly span_agent_name: string;
  readonly span_agent_version: string;
  readonly span_status_code: string;
  readonly span_conversation_id: string;
  readonly span_trace_id: string;
  readonly scorer_trace_id: string;
}
