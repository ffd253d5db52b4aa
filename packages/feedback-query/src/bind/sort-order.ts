// The order of an answer: sort keys of a request become terms, ended by created_at and id, so that no two rows
// tie and pages never overlap. A cursor is the values of all terms of one row; the next page starts after it.

import { compileValue } from '../compile/compile-expr.ts';
import type { DialectSyntax } from '../compile/dialect.ts';
import { fragment, joinFragments, type SqlFragment, trustedSql } from '../compile/sql-fragment.ts';
import { assertNever, QueryError } from '../errors.ts';
import type { QueryLimits } from '../parse/limits.ts';
import { checkStorableText } from '../parse/storable-text.ts';
import type { BoundValue, ValueType } from './bound-node.ts';
import { isNullable, valueType } from './bound-node.ts';
import { parseDatetimeLiteral } from './datetime-literal.ts';
import { type Field, parseField } from './fields.ts';
import { readPayload } from './operand.ts';

export type SortDirection = 'asc' | 'desc';

export interface SortKey {
  readonly field: string;
  /** Ascending when absent. */
  readonly direction?: SortDirection | null;
}

/** One ORDER BY term. Missing values come last in both directions. */
export interface SortTerm {
  readonly value: BoundValue;
  readonly direction: SortDirection;
  /** Text that stands for a missing value, where the order must treat it as a text. */
  readonly absentAs?: '';
}

/** Values of the sort terms of one row, in order; datetimes as ISO text. */
export type Cursor = readonly (string | number | null)[];

/**
 * Resolves sort keys and appends the unique tie-breaker `created_at, id`.
 *
 * Throws: `QueryError` `unknown_field`, `literal_error`, `unsupported_operand` or `too_large` at `sort_by.<n>`.
 */
export function bindSortOrder(
  keys: readonly SortKey[] | null | undefined,
  limits: QueryLimits,
): readonly SortTerm[] {
  const wanted = keys ?? [];
  if (wanted.length > limits.maxFieldCount) {
    throw new QueryError('too_large', ['sort_by'], `At most ${limits.maxFieldCount} sort keys`);
  }
  const terms: SortTerm[] = [];
  wanted.forEach(({ field: name, direction }, index) => {
    const path = ['sort_by', index, 'field'];
    const field = parseField(name, path, limits);
    terms.push(...termsOf(field, checkDirection(direction, index), path));
  });
  for (const name of ['created_at', 'id']) {
    const seen = wanted.some(key => key.field === name);
    if (!seen) terms.push(...termsOf(parseField(name, []), 'asc', []));
  }
  return terms;
}

function checkDirection(direction: SortDirection | null | undefined, index: number): SortDirection {
  if (direction === null || direction === undefined) return 'asc';
  if (direction === 'asc' || direction === 'desc') return direction;
  throw new QueryError('literal_error', ['sort_by', index, 'direction'], "Input should be 'asc' or 'desc'");
}

/** A payload path sorts rows that have the key first, then by number, then by text. */
function termsOf(
  field: Field,
  direction: SortDirection,
  path: readonly (string | number)[],
): readonly SortTerm[] {
  switch (field.kind) {
    case 'payload': {
      const { segments } = field;
      const exists: BoundValue = {
        kind: 'from-condition',
        as: 'integer',
        input: { kind: 'payload-exists', segments },
      };
      return [
        { value: exists, direction: 'desc' },
        { value: readPayload(segments, 'number'), direction },
        { value: readPayload(segments, 'text'), direction, absentAs: '' },
      ];
    }
    case 'map-key':
      return [{ value: { kind: 'map-value', column: field.column, key: field.key }, direction }];
    case 'column': {
      const { column } = field;
      if (column.type === 'text' || column.type === 'datetime') {
        return [{ value: { kind: 'column', column }, direction }];
      }
      throw new QueryError('unsupported_operand', path, `${column.name} has no order; name one key of it`);
    }
    default:
      return assertNever(field);
  }
}

/** The ORDER BY clause without its keyword. */
export function compileSortOrder(terms: readonly SortTerm[], syntax: DialectSyntax): SqlFragment {
  const parts = terms.map(term => {
    const nulls = isNullableTerm(term) ? ' NULLS LAST' : '';
    return fragment`${compileTerm(term, syntax)} ${trustedSql(`${term.direction}${nulls}`)}`;
  });
  return joinFragments(parts, ', ');
}

/** A term as a cursor stores it: datetimes as text. */
export function compileCursorValue(term: SortTerm, syntax: DialectSyntax): SqlFragment {
  const value = compileTerm(term, syntax);
  return valueType(term.value) === 'datetime' ? syntax.cast('datetime-to-text', value) : value;
}

/**
 * The condition "comes after the cursor": equal in the first terms and later in the next one.
 * Its text depends on which cursor values are null, never on the values.
 *
 * Throws: `QueryError` `invalid_cursor` when the cursor was not made by this sort order.
 */
export function compileAfter(terms: readonly SortTerm[], cursor: Cursor, syntax: DialectSyntax): SqlFragment {
  if (cursor.length !== terms.length) throw invalidCursor();
  const equal: SqlFragment[] = [];
  const alternatives: SqlFragment[] = [];
  terms.forEach((term, index) => {
    const left = compileTerm(term, syntax);
    const value = cursor[index]!;
    if (value === null) {
      if (!isNullableTerm(term)) throw invalidCursor();
      equal.push(fragment`${left} IS NULL`);
      return;
    }
    const right = cursorParameter(valueType(term.value), value, syntax);
    const operator = trustedSql(term.direction === 'asc' ? '>' : '<');
    const later = isNullableTerm(term)
      ? fragment`(${left} ${operator} ${right} OR ${left} IS NULL)`
      : fragment`${left} ${operator} ${right}`;
    alternatives.push(fragment`(${joinFragments([...equal, later], ' AND ')})`);
    equal.push(fragment`${left} = ${right}`);
  });
  const later = fragment`(${joinFragments(alternatives, ' OR ')})`;
  const bound = compileFirstBound(terms[0]!, cursor[0]!, syntax);
  return bound === null ? later : fragment`(${bound} AND ${later})`;
}

/** Says nothing new, but lets an index on the first term start at the cursor, so deep pages cost what the first costs. */
function compileFirstBound(term: SortTerm, value: Cursor[number], syntax: DialectSyntax): SqlFragment | null {
  if (value === null || isNullableTerm(term) || term.value.kind !== 'column') return null;
  const operator = trustedSql(term.direction === 'asc' ? '>=' : '<=');
  return fragment`${compileTerm(term, syntax)} ${operator} ${cursorParameter(valueType(term.value), value, syntax)}`;
}

function compileTerm(term: SortTerm, syntax: DialectSyntax): SqlFragment {
  const value = compileValue(term.value, syntax);
  const present = term.absentAs === undefined ? value : fragment`coalesce(${value}, '')`;
  return valueType(term.value) === 'text' ? syntax.byteOrder(present) : present;
}

function isNullableTerm(term: SortTerm): boolean {
  return term.absentAs === undefined && isNullable(term.value);
}

function cursorParameter(type: ValueType, value: string | number, syntax: DialectSyntax): SqlFragment {
  if (type === 'datetime') {
    const epochMs = parseDatetimeLiteral(value);
    if (epochMs === null) throw invalidCursor();
    return syntax.datetime(epochMs);
  }
  if (type === 'text' ? typeof value !== 'string' : typeof value !== 'number') throw invalidCursor();
  if (typeof value === 'number') return syntax.number(value);
  checkStorableText(value, ['after']);
  return syntax.text(value);
}

function invalidCursor(): QueryError {
  return new QueryError('invalid_cursor', ['after'], 'The cursor does not belong to this sort order');
}
