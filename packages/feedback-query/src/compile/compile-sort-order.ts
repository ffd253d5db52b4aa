// Sort terms to an ORDER BY clause, and a cursor to a keyset pagination predicate. A cursor holds the values of
// all sort terms of one row; the next page starts after it.
import type { ValueType } from '../bind/bound-node.ts';
import { isNullable, valueType } from '../bind/bound-node.ts';
import { parseDatetimeLiteral } from '../bind/datetime-literal.ts';
import type { Cursor, SortTerm } from '../bind/sort-order.ts';
import { QueryError } from '../errors.ts';
import { checkStorableText } from '../parse/limits.ts';
import { compileValue } from './compile-expr.ts';
import type { DialectSyntax } from './dialect.ts';
import { fragment, joinFragments, type SqlFragment, trustedSql } from './sql-fragment.ts';

/** The ORDER BY clause without its keyword. */
export function compileSortOrder(terms: readonly SortTerm[], syntax: DialectSyntax): SqlFragment {
  const parts = terms.map(term => {
    const nulls = isNullableTerm(term) ? ' NULLS LAST' : '';
    return fragment`${compileTerm(term, syntax)} ${trustedSql(`${term.direction}${nulls}`)}`;
  });
  return joinFragments(parts, ', ');
}

/** The value of a term in a cursor: datetimes as text. */
export function compileCursorValue(term: SortTerm, syntax: DialectSyntax): SqlFragment {
  const value = compileTerm(term, syntax);
  return valueType(term.value) === 'datetime' ? syntax.cast('datetime-to-text', value) : value;
}

/**
 * The keyset pagination predicate: rows equal to the cursor in the first terms and after it in the next one.
 * Its SQL text depends on which cursor values are null, never on the values.
 *
 * Throws: `QueryError` `invalid_cursor` when the cursor belongs to another sort order.
 */
export function compileAfter(terms: readonly SortTerm[], cursor: Cursor, syntax: DialectSyntax): SqlFragment {
  if (cursor.length !== terms.length) throw invalidCursor();
  const compared = terms.map((term, index) => compareTerm(term, cursor[index]!, syntax));
  // The last term is never null, so some rows are later.
  const later = laterOf(compared)!;
  const bound = compileFirstBound(terms[0]!, cursor[0]!, syntax);
  return bound === null ? later : fragment`(${bound} AND ${later})`;
}

/** The value of a term beside that of the cursor. */
interface ComparedTerm {
  readonly equal: SqlFragment;
  /** Null where no value comes later. */
  readonly later: SqlFragment | null;
}

function compareTerm(term: SortTerm, value: Cursor[number], syntax: DialectSyntax): ComparedTerm {
  const left = compileTerm(term, syntax);
  if (value === null) {
    if (!isNullableTerm(term)) throw invalidCursor();
    return { equal: fragment`${left} IS NULL`, later: null };
  }
  const right = cursorParameter(valueType(term.value), value, syntax);
  const operator = trustedSql(term.direction === 'asc' ? '>' : '<');
  const later = fragment`${left} ${operator} ${right}`;
  return {
    equal: fragment`${left} = ${right}`,
    later: isNullableTerm(term) ? fragment`(${later} OR ${left} IS NULL)` : later,
  };
}

/**
 * Later in the first half, or equal there and later in the other half. An alternative for each term would take text that
 * grows with the square of their number, and one inside the other would nest as deep as there are terms.
 */
function laterOf(terms: readonly ComparedTerm[]): SqlFragment | null {
  if (terms.length === 1) return terms[0]!.later;
  const half = Math.ceil(terms.length / 2);
  const first = laterOf(terms.slice(0, half));
  const rest = laterOf(terms.slice(half));
  if (rest === null) return first;
  const equal = terms.slice(0, half).map(term => term.equal);
  const laterInRest = fragment`(${joinFragments([...equal, rest], ' AND ')})`;
  return first === null ? laterInRest : fragment`(${first} OR ${laterInRest})`;
}

/** A redundant bound on the first term: an index scan starts at the cursor, so every page costs the same. */
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
