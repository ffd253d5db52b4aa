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
  /** False where the same feedback was stored before. */
  readonly isNew: boolean;
  /** The time of the first insert: earlier than now when the same feedback was sent before. */
  readonly createdAtMs: number;
  readonly userId: string;
}

/** A page of rows. The rows are text, because the store writes them off the event loop. */
export interface FeedbackPage {
  /** UTF-8 of a JSON array with one object per row; `parseRows` reads it. */
  readonly rows: Uint8Array<ArrayBuffer>;
  readonly rowCount: number;
  /** Whether rows were left out because of `maxBytes`. */
  readonly isCut: boolean;
  /** Cursor of the last row; null for an empty page and when the query was bound without `withCursor`. */
  readonly lastCursor: Cursor | null;
}

export interface FeedbackReading {
  /** A page ends before the row that exceeds this, but has at least one. Unit: bytes. */
  readonly maxBytes: number;
  /** Stops the query in the database. */
  readonly signal?: AbortSignal | undefined;
}

/** The rows of a page as objects, for callers that may spend the time. */
export function parseRows({ rows }: Pick<FeedbackPage, 'rows'>): ResultRow[] {
  return JSON.parse(new TextDecoder().decode(rows)) as ResultRow[];
}

/** What a request gives of its record. */
export interface FeedbackContent extends Omit<FeedbackRecord, 'id' | 'wb_user_id' | 'created_at_ms'> {
  /** Null: the server chooses it. */
  readonly id: string | null;
}

/**
 * One piece of feedback of a request, checked by itself. A fault is reported only to callers with access to
 * the project.
 */
export type FeedbackDraft =
  | { readonly projectId: string; readonly content: FeedbackContent }
  | {
      readonly projectId: string;
      /** Of an `invalid_parameter`. */
      readonly fault: { readonly message: string; readonly param: string | null };
    };

export interface FeedbackDrafts {
  /** In the order of the request, up to the first fault. */
  readonly drafts: readonly FeedbackDraft[];
  /** What a `replace` replaces. */
  readonly replacedId: string | null;
}

export type FeedbackBodyKind = 'create' | 'batch' | 'replace';

/** Reads bodies that store feedback. */
export interface FeedbackBodies {
  /** As `readFeedbackDrafts`. */
  read(
    kind: FeedbackBodyKind,
    body: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<FeedbackDrafts>;
}

export interface FeedbackStore {
  /** Maximum number of queries and samples that should run at once. */
  readonly queryConcurrency: number;
  /** Throws: `QueryError` for a cursor of another query; `ApiError` `query_timeout`. */
  query(query: BoundFeedbackQuery, reading: FeedbackReading): Promise<FeedbackPage>;
  /**
   * Payload texts of the sampled refs in chunks, so that a large sample fits into memory.
   * Throws: `QueryError`; `ApiError` `query_timeout` and `answer_too_large`.
   */
  samplePayloads(query: PayloadSampleQuery, signal?: AbortSignal): AsyncIterable<readonly string[]>;
  /**
   * Stores all records or none, in one transaction; durable when it resolves. A record whose id is stored already with
   * the same content changes nothing. Throws: `ApiError` `conflict` for an id with other content.
   */
  insert(records: readonly FeedbackRecord[]): Promise<readonly InsertedFeedback[]>;
  /** Whether this very feedback is stored: its id, with the same content. */
  isStored(record: FeedbackRecord): Promise<boolean>;
  /** Deletes one id and stores the record, in one transaction. Throws: like `insert`. */
  replace(removedId: string, record: FeedbackRecord): Promise<InsertedFeedback>;
  /** Idempotent: unknown ids are not an error. */
  delete(projectId: string, ids: readonly string[]): Promise<void>;
}
