// Limits on a query: its size, which bounds the compiler's time and the database's work, and the text it may hold.
import { QueryError, type QueryPath } from '../errors.ts';

export interface QueryLimits {
  /** Deepest nesting of operators. */
  readonly maxDepth: number;
  /** Maximum number of operators, fields and literals in total. */
  readonly maxNodeCount: number;
  /** Maximum number of elements of one `$in` list or operands of one `$and`. */
  readonly maxListLength: number;
  /** Unit: UTF-16 units. Longest literal text. */
  readonly maxTextLength: number;
  /** Unit: UTF-16 units. Longest field name, path included. */
  readonly maxFieldLength: number;
  /** Maximum number of segments of a payload path. */
  readonly maxSegmentCount: number;
  /** Maximum number of entries of `fields` and of `sort_by`. */
  readonly maxFieldCount: number;
  /** Maximum number of rows of one answer; a request without a limit gets this many. */
  readonly maxRowCount: number;
}

export const DEFAULT_QUERY_LIMITS: QueryLimits = Object.freeze({
  maxDepth: 32,
  maxNodeCount: 2_000,
  maxListLength: 1_000,
  maxTextLength: 65_536,
  maxFieldLength: 1_024,
  maxSegmentCount: 32,
  maxFieldCount: 100,
  maxRowCount: 10_000,
});

/**
 * Refuses text that no database stores; as a literal it could match nothing.
 *
 * Throws: `QueryError` `invalid_text` when the text contains NUL or an unpaired surrogate.
 */
export function checkStorableText(text: string, path: QueryPath): void {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new QueryError('invalid_text', path, 'Text must not contain NUL or an unpaired surrogate');
  }
}
