// Restricts a bound query to a time window. A store whose table is sorted by time answers "the newest hundred" from a
// small window first and widens it until the page is full: that changes how much it reads, never the answer.
import type { BoundFeedbackQuery } from './bind-query.ts';
import type { BoundCondition, BoundValue } from './bound-node.ts';
import { COLUMNS } from './columns.ts';
import { parseDatetimeLiteral } from './datetime-literal.ts';
import type { SortDirection } from './sort-order.ts';

/** Unit: milliseconds since 1970. Both ends are included. */
export interface TimeWindow {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** The query, restricted to rows of the window. */
export function withinWindow(query: BoundFeedbackQuery, { fromMs, toMs }: TimeWindow): BoundFeedbackQuery {
  const operands: BoundCondition[] = [];
  if (fromMs !== undefined) operands.push(compareCreated('gte', fromMs));
  if (toMs !== undefined) operands.push(compareCreated('lte', toMs));
  if (operands.length === 0) return query;
  if (query.filter !== null) operands.push(query.filter);
  return { ...query, filter: { kind: 'logic', operator: 'and', operands } };
}

/** The direction of a query sorted by created_at first; null for a count or another order. */
export function timeDirection({ selection, sort }: BoundFeedbackQuery): SortDirection | null {
  const [first] = sort;
  if (selection.kind === 'count' || first?.value.kind !== 'column') return null;
  return first.value.column.name === 'created_at' ? first.direction : null;
}

/** created_at of the cursor, for a query sorted by time; null without a cursor. Unit: milliseconds since 1970. */
export function cursorMoment({ after }: BoundFeedbackQuery): number | null {
  const first = after?.[0];
  return first === undefined || first === null ? null : parseDatetimeLiteral(first);
}

/** @param epochMs Unit: milliseconds since 1970; in the years 1 to 9999. */
export function compareCreated(operator: 'gte' | 'lt' | 'lte', epochMs: number): BoundCondition {
  const right: BoundValue = { kind: 'datetime-parameter', epochMs };
  return { kind: 'compare', operator, type: 'datetime', left: CREATED_AT, right };
}

const CREATED_AT: BoundValue = {
  kind: 'column',
  column: COLUMNS.find(({ name }) => name === 'created_at')!,
};
