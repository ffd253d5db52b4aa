// A bound query to one SELECT statement. The project is a separate condition, joined by AND with the filter, so no
// expression can widen it. Does not run the query; a store does.
import type { CompiledQuery } from 'kysely';
import type { BoundFeedbackQuery } from '../bind/bind-query.ts';
import type { Field } from '../bind/fields.ts';
import type { Selection } from '../bind/selection.ts';
import type { Cursor, SortTerm } from '../bind/sort-order.ts';
import { assertNever } from '../errors.ts';
import { compileCondition } from './compile-expr.ts';
import { compileAfter, compileCursorValue, compileSortOrder } from './compile-sort-order.ts';
import { type DialectSyntax, type QueryDialect, TABLE_ALIAS } from './dialect.ts';
import { columnAlias, type ResultColumn, type ResultRow, resultColumns, toRowText } from './result-row.ts';
import { fragment, joinFragments, type SqlFragment, toExpression, trustedSql } from './sql-fragment.ts';
import { sqlWriter } from './sql-writer.ts';

export interface CompiledFeedbackQuery {
  /** Run with `db.executeQuery(statement)`. */
  readonly statement: CompiledQuery<ResultRow>;
  /** The columns of the result; `toRowText` writes a row with them. */
  readonly columns: readonly ResultColumn[];
  /** Decodes a row of the result. */
  readonly toResult: (row: ResultRow) => ResultRow;
  /** The cursor of a row, or null when the query was bound without `withCursor`. */
  readonly toCursor: (row: ResultRow) => Cursor | null;
}

export interface CompileOptions {
  /** Table name, as an SQL identifier. */
  readonly tableName?: string;
}

/**
 * Compiles a bound query for one database.
 *
 * Throws: `QueryError` `invalid_cursor`.
 */
export function compileFeedbackQuery(
  query: BoundFeedbackQuery,
  dialect: QueryDialect,
  options: CompileOptions = {},
): CompiledFeedbackQuery {
  const syntax = dialect.createSyntax();
  const { selection, sort } = query;
  const isCount = selection.kind === 'count';
  const columns = selectColumns(selection, syntax);
  const cursorColumns = query.withCursor ? sort.map(term => compileCursorValue(term, syntax)) : [];
  const rows = sqlWriter(dialect)
    .selectFrom(`${options.tableName ?? 'feedback'} as ${TABLE_ALIAS}`)
    .select([
      ...columns.map((column, index) => toExpression(column).as(columnAlias(index))),
      ...cursorColumns.map((column, index) => toExpression(column).as(cursorAlias(index))),
    ])
    .where(toExpression<boolean>(compileScope(query, syntax)));
  const ordered = isCount ? rows : rows.orderBy(toExpression(compileSortOrder(sort, syntax)));
  const statement = ordered
    .limit(toExpression<number>(syntax.rowCount(query.limit)))
    .offset(toExpression<number>(syntax.rowCount(query.offset)))
    .compile();
  const shown = resultColumns(selection);
  return Object.freeze({
    statement: statement as CompiledQuery<ResultRow>,
    columns: shown,
    toResult: (row: ResultRow) => JSON.parse(toRowText(shown, row)) as ResultRow,
    toCursor: (row: ResultRow) => (query.withCursor ? readCursor(sort, row) : null),
  });
}

/** The SQL of a query for inspection, with its parameters in order. */
export function explainFeedbackQuery(
  query: BoundFeedbackQuery,
  dialect: QueryDialect,
  options: CompileOptions = {},
): { readonly sql: string; readonly parameters: readonly unknown[] } {
  const { sql, parameters } = compileFeedbackQuery(query, dialect, options).statement;
  return { sql, parameters };
}

function selectColumns(selection: Selection, syntax: DialectSyntax): readonly SqlFragment[] {
  if (selection.kind === 'count') return [syntax.countRows()];
  return selection.fields.map(({ field }) => selectField(field, syntax));
}

function selectField(field: Field, syntax: DialectSyntax): SqlFragment {
  switch (field.kind) {
    case 'column':
      return syntax.columnOutput(field.column);
    case 'map-key':
      return syntax.mapValue(field.column, field.key);
    case 'payload':
      return syntax.payloadOutput(field.segments);
    default:
      return assertNever(field);
  }
}

/** The WHERE clause: project, then filter, then cursor, each in its own parentheses. */
function compileScope(query: BoundFeedbackQuery, syntax: DialectSyntax): SqlFragment {
  const parts = [fragment`${trustedSql(`${TABLE_ALIAS}.project_id`)} = ${syntax.text(query.projectId)}`];
  if (query.filter !== null) parts.push(compileCondition(query.filter, syntax));
  if (query.after !== null) parts.push(compileAfter(query.sort, query.after, syntax));
  return joinFragments(parts, ' AND ');
}

function cursorAlias(index: number): string {
  return `s${index}`;
}

function readCursor(sort: readonly SortTerm[], row: ResultRow): Cursor {
  return sort.map((_, index) => {
    const value = row[cursorAlias(index)];
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  });
}
