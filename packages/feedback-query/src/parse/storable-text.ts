// The one rule for texts a caller sends: what no database stores is refused at the door, not found missing later.
import { QueryError, type QueryPath } from '../errors.ts';

/**
 * Throws: `QueryError` `invalid_text` when the text holds NUL or half of a surrogate pair.
 */
export function checkStorableText(text: string, path: QueryPath): void {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new QueryError('invalid_text', path, 'Text must not hold NUL or half of a surrogate pair');
  }
}
