// The expression of an index on a payload path. It is the very text that a query on the path compiles to, so the
// database recognises it.

import { parseField } from '../bind/fields.ts';
import { QueryError } from '../errors.ts';
import { isPlainPath, type QueryDialect, TABLE_ALIAS } from './dialect.ts';

/** Readings that an index can hold; a boolean has too few values for one. */
export type IndexReading = 'text' | 'number';

/** Columns of the table as a query writes them: behind a blank or a bracket, never inside a quoted key. */
const QUALIFIED_COLUMN = new RegExp(`(^|[ (])${TABLE_ALIAS}\\.`, 'g');

/**
 * SQL text for `CREATE INDEX`, without the alias of the table: what a filter on the path compares when the literal beside
 * it is a text or a number.
 *
 * Throws: `QueryError` for a name that is no payload path of letters, digits and `_`.
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
