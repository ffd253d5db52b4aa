// The columns of a feedback row: their types for the query language, and the record that stores write.

/**
 * Type of a column.
 *
 * - `text`, `datetime` (UTC, milliseconds), `json` (one JSON object)
 * - `text-list`: list of texts
 * - `text-map`, `number-map`: texts or numbers by key
 */
export type ColumnType = 'text' | 'datetime' | 'json' | 'text-list' | 'text-map' | 'number-map';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
}

function column(name: string, type: ColumnType = 'text', nullable = false): Column {
  return Object.freeze({ name, type, nullable });
}

/** Every column of a feedback row, in the order of an answer. */
export const COLUMNS: readonly Column[] = Object.freeze([
  column('id'),
  column('project_id'),
  column('weave_ref'),
  column('wb_user_id'),
  column('creator', 'text', true),
  column('created_at', 'datetime'),
  column('feedback_type'),
  column('payload', 'json'),
  column('annotation_ref', 'text', true),
  column('runnable_ref', 'text', true),
  column('call_ref', 'text', true),
  column('trigger_ref', 'text', true),
  column('queue_id', 'text', true),
  column('scorer_tags', 'text-list'),
  column('scorer_tag_reasons', 'text-map'),
  column('scorer_tag_confidences', 'number-map'),
  column('scorer_ratings', 'number-map'),
  column('scorer_rating_reasons', 'text-map'),
  column('scorer_rating_confidences', 'number-map'),
  column('span_agent_name'),
  column('span_agent_version'),
  column('span_status_code'),
  column('span_conversation_id'),
  column('span_trace_id'),
  column('scorer_trace_id'),
]);

/** The columns that are represented the same in every database. */
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

/** A feedback row to store. No text holds NUL or an unpaired surrogate. */
export interface FeedbackRecord extends FeedbackColumns {
  /** Unit: milliseconds since 1970. */
  readonly created_at_ms: number;
  /** `JSON.stringify` of an object; integers within 64 bits have all their digits. */
  readonly payload_dump: string;
}
