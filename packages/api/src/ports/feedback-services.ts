// Ports of the feedback room: stored feedback, and the specs that annotations are checked with. apps/server implements
// them on its databases. Moments are milliseconds since 1970.

import type {
  BoundFeedbackQuery,
  Cursor,
  FeedbackRecord,
  PayloadSampleQuery,
  ResultRow,
} from '@ortler/feedback-query';

export type { FeedbackRecord } from '@ortler/feedback-query';

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
  /**
   * Payload texts of the sampled refs, a few at a time, so that no sample is too large.
   * Throws: `QueryError`; `ApiError` `query_timeout`.
   */
  samplePayloads(query: PayloadSampleQuery): AsyncIterable<readonly string[]>;
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
