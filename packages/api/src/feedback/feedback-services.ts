// Ports of the feedback room: stored feedback, and the specs that annotations are checked with. apps/server implements
// them on its databases. Moments are milliseconds since 1970.

import type { BoundFeedbackQuery, Cursor, PayloadSampleQuery, ResultRow } from '@ortler/feedback-query';

/** A piece of feedback as it is stored, by the names of its columns. Every text is storable: no NUL, well formed. */
export interface FeedbackRecord {
  readonly id: string;
  readonly project_id: string;
  readonly weave_ref: string;
  readonly wb_user_id: string;
  readonly creator: string | null;
  readonly created_at_ms: number;
  readonly feedback_type: string;
  /** `JSON.stringify` of an object. */
  readonly payload_dump: string;
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

/** What became of one record of an insert. */
export interface InsertedFeedback {
  /** When the record was stored first: earlier than now when the same feedback was sent before. */
  readonly createdAtMs: number;
  readonly userId: string;
}

export interface FeedbackPage {
  readonly rows: readonly ResultRow[];
  /** Of the last row; null for an empty page and when the query was bound without `withCursor`. */
  readonly lastCursor: Cursor | null;
}

export interface FeedbackStore {
  /** Throws: `QueryError` for a foreign cursor; `ApiError` `query_timeout` and `answer_too_large`. */
  query(query: BoundFeedbackQuery): Promise<FeedbackPage>;
  /** Payload texts of the sampled refs. Throws: `QueryError`; `ApiError` `query_timeout`. */
  samplePayloads(query: PayloadSampleQuery): Promise<readonly string[]>;
  /**
   * Stores all records or none, in one transaction; what resolves is durable. A record whose id is stored already with
   * the same content changes nothing. Throws: `ApiError` `conflict` for an id with other content.
   */
  insert(records: readonly FeedbackRecord[]): Promise<readonly InsertedFeedback[]>;
  /** Removes one id and stores the record, together or not at all. Throws: as `insert`. */
  replace(removedId: string, record: FeedbackRecord): Promise<InsertedFeedback>;
  /** Ids that are not there are no error. */
  delete(projectId: string, ids: readonly string[]): Promise<void>;
}
