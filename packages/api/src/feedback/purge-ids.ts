// The ids of a purge query. Purging accepts ids only, so that a wrong filter cannot empty a project.

import { type ExprNode, parseQuery } from '@ortler/feedback-query';
import { ApiError } from '../trpc/errors.ts';

const RULE =
  'Purging works by explicit ids only: {"$eq": [{"$getField": "id"}, {"$literal": "<id>"}]}, or an $or of such';

/** The ids of a purge query. Throws: `invalid_parameter`; `QueryError` for a malformed query. */
export function readPurgeIds(query: unknown): readonly string[] {
  const expr = parseQuery(query);
  if (expr === null) throw refusal();
  return expr.kind === 'logic' && expr.operator === 'or' ? expr.operands.map(idOf) : [idOf(expr)];
}

function idOf(expr: ExprNode): string {
  if (expr.kind !== 'compare' || expr.operator !== 'eq') throw refusal();
  const { left, right } = expr;
  if (left.kind !== 'field' || left.name !== 'id') throw refusal();
  if (right.kind !== 'literal' || typeof right.value !== 'string') throw refusal();
  return right.value;
}

function refusal(): ApiError {
  return new ApiError('invalid_parameter', RULE, { param: 'query' });
}
