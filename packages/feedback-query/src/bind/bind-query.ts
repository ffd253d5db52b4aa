// Binds a whole request: filter, selection, sort order and paging. The result can be compiled for every dialect.
// The types of the envelope are checked by the caller; its values are checked here.

import { QueryError } from '../errors.ts';
import { checkStorableText, DEFAULT_QUERY_LIMITS, type QueryLimits } from '../parse/limits.ts';
import { parseQuery } from '../parse/parse-expr.ts';
import { bindExpr } from './bind-expr.ts';
import type { BoundCondition } from './bound-node.ts';
import { bindSelection, type Selection } from './selection.ts';
import { bindSortOrder, type Cursor, type SortKey, type SortTerm } from './sort-order.ts';

/** A request for feedback rows. */
export interface FeedbackQuery {
  readonly projectId: string;
  /** Selected field names; absent or empty means every column. */
  readonly fields?: readonly string[] | null;
  /** `{ $expr: operation }`, not validated yet; absent means every row of the project. */
  readonly query?: unknown;
  readonly sortBy?: readonly SortKey[] | null;
  /** Maximum number of rows; absent means `QueryLimits.maxRowCount`. */
  readonly limit?: number | null;
  readonly offset?: number | null;
  /** Keyset pagination: rows after this cursor of `CompiledFeedbackQuery.toCursor`, for the same sort order. */
  readonly after?: Cursor | null;
  /** Also selects the cursor's values. */
  readonly withCursor?: boolean;
}

export interface BoundFeedbackQuery {
  readonly projectId: string;
  readonly selection: Selection;
  readonly filter: BoundCondition | null;
  readonly sort: readonly SortTerm[];
  readonly limit: number;
  readonly offset: number;
  readonly after: Cursor | null;
  readonly withCursor: boolean;
}

/**
 * Parses and binds a request.
 *
 * Throws: `QueryError`, with the path of the error from the request's root.
 */
export function bindFeedbackQuery(
  request: FeedbackQuery,
  limits: QueryLimits = DEFAULT_QUERY_LIMITS,
): BoundFeedbackQuery {
  checkStorableText(request.projectId, ['project_id']);
  const expr = parseQuery(request.query, limits);
  const selection = bindSelection(request.fields, limits);
  const after = request.after ?? null;
  if (after !== null && selection.kind === 'count') {
    throw new QueryError('invalid_cursor', ['after'], 'count(*) cannot be paged');
  }
  return Object.freeze({
    projectId: request.projectId,
    selection,
    filter: expr === null ? null : bindExpr(expr, limits),
    sort: bindSortOrder(request.sortBy, limits),
    limit: bindLimit(request.limit, limits.maxRowCount),
    offset: bindCount(request.offset ?? 0, 'offset'),
    after,
    withCursor: request.withCursor === true && selection.kind === 'fields',
  });
}

function bindLimit(limit: number | null | undefined, maxRowCount: number): number {
  const count = bindCount(limit ?? maxRowCount, 'limit');
  if (count <= maxRowCount) return count;
  throw new QueryError('limit_too_large', ['limit'], `Limit must be at most ${maxRowCount}`);
}

function bindCount(value: number, name: 'limit' | 'offset'): number {
  if (!Number.isSafeInteger(value)) {
    throw new QueryError('int_type', [name], 'Input should be a valid integer');
  }
  if (value >= 0) return value;
  const label = name === 'limit' ? 'Limit' : 'Offset';
  throw new QueryError('negative_limit', [name], `${label} must be non-negative`);
}
