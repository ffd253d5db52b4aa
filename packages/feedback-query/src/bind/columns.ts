// One piece of feedback by the names of its columns. Who stores rows, who imports them and the tests all start from here.

/** The columns that look the same wherever a row is. */
export interface FeedbackColumns {
  readonly id: string;
  readonly project_id: string;
  readonly weave_ref: string;
  readonly wb_user_id: string;
  readonly creator: string | null;
  readonly feedback_type: string;
  readonly annotation_ref: string | null;
  readonly runnable_ref: string | null;
  readonly call_ref: string | null;
  readonly trigger_ref: string | null;
  readonly queue_id: string | null;
  readonly scorer_tags: readonly string[];
  readonly scorer_tag_reasons: Readonly<Record<string, string>>;
  readonly scorer_tag_confidences: Readonly<Record<string, number>>;
  readonly scorer_ratings: Readonly<Record<string, number>>;
  readonly scorer_rating_reasons: Readonly<Record<string, string>>;
  readonly scorer_rating_confidences: Readonly<Record<string, number>>;
  readonly span_agent_name: string;
  readonly span_agent_version: string;
  readonly span_status_code: string;
  readonly span_conversation_id: string;
  readonly span_trace_id: string;
  readonly scorer_trace_id: string;
}

/** A piece of feedback to store. Every text is storable: no NUL, well formed. */
export interface FeedbackRecord extends FeedbackColumns {
  /** Unit: milliseconds since 1970. */
  readonly created_at_ms: number;
  /** `JSON.stringify` of an object. */
  readonly payload_dump: string;
}
