// The path from the request's root to an operand, as a linked list: a step costs one small object, and the array is
// built only for an error. Used by the parser and the binder.
import type { QueryPath } from '../errors.ts';

export interface ExprPath {
  readonly parent: ExprPath | null;
  readonly key: string | number;
}

/** Extends a path: `step(path, '$eq', 0)` is `path.$eq[0]`. */
export function step(parent: ExprPath | null, ...keys: readonly (string | number)[]): ExprPath {
  let path = parent;
  for (const key of keys) path = { parent: path, key };
  return path as ExprPath;
}

/** The path as an array, for a `QueryError`. */
export function toQueryPath(path: ExprPath | null): QueryPath {
  const keys: (string | number)[] = [];
  for (let at = path; at !== null; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

/** Path of the filter expression in a request body. */
export const EXPR_ROOT: ExprPath = step(null, 'query', '$expr');
