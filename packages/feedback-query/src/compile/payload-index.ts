// The expression of an expression index on a payload path: the same SQL that a filter on the path compiles to, so the
// database recognises it.

import { parseField } from '../bind/fields.ts';
import { QueryError } from '../errors.ts';
import { isPlainPath, type QueryDialect, TABLE_ALIAS } from './dialect.ts';

/** Readings that can be indexed; a boolean has too few values for an index. */
export type IndexReading = 'text' | 'number';

/** A qualified column in the SQL: after a space or a parenthesis, never inside a quoted key. */
const QUALIFIED_COLUMN = new RegExp(`(^|[ (])${TABLE_ALIAS}\\.`, 'g');

/**
 * SQL text for `CREATE INDEX`, without the table alias: the expression that a filter compares with a text or a number.
 *
 * Throws: `QueryError` for a name that is not a payload path of letters, digits and `_`.
 */
export function payloadIndexExpression(name: string, reading: IndexReading, dialect: QueryDialect): string {
  const field = parseField(name, ['field']);
  if (field.kind !== 'payload' || field.segments.length === 0 || !isPlainPath(field.segments)) {
    throw new QueryError(
      'unsupported_operand',
      ['field'],
      `An index takes a payload path of plain keys such as payload.output.score, not ${name}`,
    );
  }
  const { texts } = dialect.createSyntax().payload(field.segments, reading);
  return texts.join('').replace(QUALIFIED_COLUMN, '$1');
}
