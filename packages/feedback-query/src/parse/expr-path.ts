// The way from the request's root to a part of it, as a linked list: taking one more step costs one small
// object, and the array form is built only when an error needs it. Used by the parser and the binder.
import type { QueryPath } from '../errors.ts';

export interface ExprPath {
  readonly parent: ExprPath | null;
  readonly key: string | number;
}

/** One step further: `step(path, '$eq', 0)` is `path.$eq[0]`. */
export function step(parent: ExprPath | null, ...keys: readonly (string | number)[]): ExprPath {
  let path = parent;
  for (const key of keys) path = { parent: path, key };
  return path as ExprPath;
}

/** The keys from the root, ready for a `QueryError`. */
export function toQueryPath(path: ExprPath | null): QueryPath {
  const keys: (string | number)[] = [];
  for (let at = path; at !== null; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

/** Where the user's expression lies in a request body. */
export const EXPR_ROOT: ExprPath = step(null, 'query', '$expr');
