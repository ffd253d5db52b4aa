// Messages between the main thread and a SQLite worker thread. Plain data only.

import type { SQLInputValue } from 'node:sqlite';
import type { JsonPage, JsonPageOptions } from '../json-page.ts';

/** Start options of a SQLite thread. */
export interface SqliteThreadOptions {
  readonly file: string;
  /** Present: the connection only reads, and a statement is stopped after this time. Unit: milliseconds. */
  readonly readTimeLimitMs?: number;
  /** Commits survive a kill of the process, but the last ones not a power failure: they cost no wait for the disk. */
  readonly survivesKillOnly?: boolean;
  /** Gets less CPU time than the event loop and the models where all want it, because callers decide what it costs. */
  readonly hasLowPriority?: boolean;
  /** Holds the id of the statement that its caller has abandoned. Only readers look at it. */
  readonly abortedId?: Int32Array<SharedArrayBuffer>;
}

/** The commit statement, before which the file is checked. */
export const COMMIT = 'commit';

/** The rollback statement; without effect when SQLite has rolled back by itself. */
export const ROLLBACK = 'rollback';

export interface StatementRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
  /** Answer with a page instead of rows. */
  readonly page?: JsonPageOptions | undefined;
}

export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Rows changed by a write. */
  readonly changedCount: number;
}

export type ThreadReport =
  | { readonly kind: 'opened' }
  | { readonly kind: 'not-opened'; readonly message: string; readonly errcode: number | undefined }
  | { readonly kind: 'result'; readonly id: number; readonly result: StatementResult }
  | { readonly kind: 'page'; readonly id: number; readonly page: JsonPage }
  | { readonly kind: 'timed-out' | 'too-large' | 'aborted'; readonly id: number }
  /** The file was removed or replaced; the thread takes no more statements. */
  | { readonly kind: 'lost'; readonly message: string }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly message: string;
      readonly errcode: number | undefined;
    };
