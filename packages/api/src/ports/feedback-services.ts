// The port of the feedback store. apps/server implements it on its databases. Times are in milliseconds since 1970.

import type {
  BoundFeedbackQuery,
  Cursor,
  FeedbackRecord,
  PayloadSampleQuery,
  ResultRow,
} from '@ortler/feedback-query';

export type { FeedbackRecord } from '@ortler/feedback-query';

/** The outcome of one inserted record. */
export interface InsertedFeedback {
  /** The time of the first insert: earlier than now when the same feedback was sent before. */
  readonly createdAtMs: number;
  readonly userId: string;
}

export interface FeedbackPage {
  readonly rows: readonly ResultRow[];
  /** Cursor of the last row; null for an empty page and when the query was bound without `withCursor`. */
  readonly lastCursor: Cursor | null;
}

export interface FeedbackStore {
  /** Throws: `QueryError` for a cursor of another query; `ApiError` `query_timeout` and `answer_too_large`. */
  query(query: BoundFeedbackQuery): Promise<FeedbackPage>;
  /**
   * Payload texts of the sampled refs in chunks, so that a large sample fits into memory.
   * Throws: `QueryError`; `ApiError` `query_timeout`.
   */
  samplePayloads(query: PayloadSampleQuery): AsyncIterable<readonly string[]>;
  /**
   * Stores all records or none, in one transaction; durable when it resolves. A record whose id is stored already with
   * the same content changes nothing. Throws: `ApiError` `conflict` for an id with other content.
   */
  insert(records: readonly FeedbackRecord[]): Promise<readonly InsertedFeedback[]>;
  /** Deletes one id and stores the record, in one transaction. Throws: like `insert`. */
  replace(removedId: string, record: FeedbackRecord): Promise<InsertedFeedback>;
  /** Idempotent: unknown ids are no error. */
  delete(projectId: string, ids: readonly string[]): Promise<void>;
}
