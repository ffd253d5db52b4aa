// What the main thread and a SQLite thread say to each other. Plain data only.

import type { SQLInputValue } from 'node:sqlite';

/** What a SQLite thread is started with. */
export interface SqliteThreadOrder {
  readonly file: string;
  /** Present: the connection only reads, and a statement is stopped after this time. Unit: milliseconds. */
  readonly readTimeLimitMs?: number;
}

/** Ends a transaction without its changes; nothing happens when SQLite has done that by itself. */
export const ROLLBACK = 'rollback';

export interface StatementOrder {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

export interface StatementResult {
  readonly rows: readonly unknown[];
  /** Rows that a writing statement changed. */
  readonly changedCount: number;
}

export type ThreadReport =
  | { readonly kind: 'opened' }
  | { readonly kind: 'not-opened'; readonly message: string }
  | { readonly kind: 'result'; readonly id: number; readonly result: StatementResult }
  | { readonly kind: 'timed-out' | 'too-large'; readonly id: number }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly message: string;
      readonly errcode: number | undefined;
    };
