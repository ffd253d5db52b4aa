// SQLite 3.45 and later. Structured columns are JSON text; datetimes are 24-character ISO text, whose order is
// time order. JSON values are read by their json_type, because SQLite orders every text after every number.
import { SqliteAdapter, SqliteQueryCompiler } from 'kysely';
import type { Cast, PayloadReading } from '../bind/bound-node.ts';
import type { Column } from '../bind/columns.ts';
import { toIsoMs } from '../bind/datetime-literal.ts';
import type { PathSegment } from '../bind/fields.ts';
import {
  type DialectSyntax,
  isPlainPath,
  jsonPath,
  NUMERIC_TEXT_LENGTH,
  type QueryDialect,
  TABLE_ALIAS,
} from '../compile/dialect.ts';
import { clauses, fragment, parameter, type SqlFragment, trustedSql } from '../compile/sql-fragment.ts';
import { assertNever } from '../errors.ts';
import { BaseSyntax, byteOf, flagOf } from './base-syntax.ts';

export const sqliteDialect: QueryDialect = Object.freeze({
  name: 'sqlite',
  createSyntax: () => new SqliteSyntax(),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new SqliteAdapter(),
});

const PAYLOAD = trustedSql(`${TABLE_ALIAS}.payload_dump`);
/**
 * The payload as a comparable value. Without the plus, SQLite propagates the constant of an equality to every use of the
 * column, also where it is parsed as JSON: `payload = '' and payload.a exists` failed with "malformed JSON".
 */
const PAYLOAD_TEXT = trustedSql(`+${TABLE_ALIAS}.payload_dump`);
const MAX_NUMERIC_LENGTH = trustedSql(String(NUMERIC_TEXT_LENGTH));

export class SqliteSyntax extends BaseSyntax implements DialectSyntax {
  text(value: string): SqlFragment {
    return parameter(value);
  }
  number(value: number): SqlFragment {
    return parameter(value);
  }
  datetime(epochMs: number): SqlFragment {
    return parameter(toIsoMs(epochMs));
  }
  rowCount(value: number): SqlFragment {
    return parameter(value);
  }

  mapValue(column: Column, key: string): SqlFragment {
    const value = fragment`(${this.column(column)} ->> ${parameter(jsonPath([key]))})`;
    return column.type === 'number-map' ? fragment`CAST(${value} AS REAL)` : value;
  }
  columnSize(column: Column): SqlFragment {
    if (column.type === 'text-list') return fragment`json_array_length(${this.column(column)})`;
    return fragment`(SELECT count(*) FROM json_each(${this.column(column)}))`;
  }
  hasElement(column: Column, needle: SqlFragment, foldCase: boolean): SqlFragment {
    const value = trustedSql(foldCase ? 'lower(element.value)' : 'element.value');
    const wanted = foldCase ? this.foldCase(needle) : needle;
    return clauses(
      fragment`EXISTS (SELECT 1`,
      fragment`FROM json_each(${this.column(column)}) AS element`,
      fragment`WHERE ${value} = ${wanted})`,
    );
  }
  columnOutput(column: Column): SqlFragment {
    return column.type === 'json' ? PAYLOAD : this.column(column);
  }

  payload(segments: readonly PathSegment[], reading: PayloadReading): SqlFragment {
    const path = pathFragment(segments);
    switch (reading) {
      case 'text':
        return segments.length === 0 ? PAYLOAD_TEXT : textAt(path);
      case 'number':
        return numberAt(path);
      case 'flag':
        return flagOf(textAt(path), this.cast('number-to-flag', numberAt(path)));
      default:
        return assertNever(reading);
    }
  }
  payloadOutput(segments: readonly PathSegment[]): SqlFragment {
    return segments.length === 0 ? PAYLOAD : fragment`${PAYLOAD} -> ${pathFragment(segments)}`;
  }
  payloadExists(segments: readonly PathSegment[]): SqlFragment {
    return fragment`(${typeAt(pathFragment(segments))} IS NOT NULL)`;
  }
  payloadIsNumber(segments: readonly PathSegment[]): SqlFragment {
    return fragment`(${typeAt(pathFragment(segments))} IN ('integer', 'real'))`;
  }
  payloadTruth(segments: readonly PathSegment[]): SqlFragment {
    const path = pathFragment(segments);
    const value = valueAt(path);
    return clauses(
      fragment`(CASE ${typeAt(path)}`,
      fragment`WHEN 'text' THEN ${value} <> ''`,
      fragment`WHEN 'null' THEN 0`,
      fragment`WHEN 'object' THEN 1`,
      fragment`WHEN 'array' THEN 1`,
      fragment`ELSE ${value} <> 0 END)`,
    );
  }
  payloadSize(segments: readonly PathSegment[]): SqlFragment {
    const path = pathFragment(segments);
    return clauses(
      fragment`CASE ${typeAt(path)}`,
      fragment`WHEN 'array' THEN json_array_length(${PAYLOAD}, ${path})`,
      fragment`WHEN 'object' THEN (SELECT count(*) FROM json_each(${PAYLOAD}, ${path}))`,
      fragment`WHEN 'text' THEN length(${valueAt(path)}) END`,
    );
  }

  cast(cast: Cast, input: SqlFragment): SqlFragment {
    switch (cast) {
      case 'text-to-number':
        return this.share(input, numberFromText);
      case 'text-to-flag':
        return this.share(input, text => flagOf(text, this.cast('number-to-flag', numberFromText(text))));
      case 'number-to-flag':
        return this.share(input, byteOf);
      case 'number-to-integer':
        return this.share(input, value =>
          clauses(
            fragment`CASE WHEN ${value} >= -9223372036854775808.0`,
            fragment`AND ${value} < 9223372036854775808.0`,
            fragment`THEN trunc(${value}) END`,
          ),
        );
      case 'integer-to-text':
        return fragment`CAST(CAST(${input} AS INTEGER) AS TEXT)`;
      case 'datetime-to-text':
        return input;
      default:
        return assertNever(cast);
    }
  }
  textLength(input: SqlFragment): SqlFragment {
    return fragment`length(${input})`;
  }
  foldCase(input: SqlFragment): SqlFragment {
    return fragment`lower(${input})`;
  }
  contains(input: SqlFragment, needle: SqlFragment): SqlFragment {
    return fragment`(instr(${input}, ${needle}) > 0)`;
  }
  startsWith(input: SqlFragment, needle: SqlFragment): SqlFragment {
    return fragment`(instr(${input}, ${needle}) = 1)`;
  }
  byteOrder(input: SqlFragment): SqlFragment {
    return input;
  }

  /** SQLite does not flatten a subquery without FROM, so the value is evaluated once. */
  share(value: SqlFragment, use: (shared: SqlFragment) => SqlFragment): SqlFragment {
    const name = this.newName();
    return fragment`(SELECT ${use(name)} FROM (SELECT ${value} AS ${name}))`;
  }
  momentAndId(moment: SqlFragment, id: SqlFragment): SqlFragment {
    return fragment`${moment} || ' ' || ${id}`;
  }
  countRows(): SqlFragment {
    return trustedSql('count(*)');
  }
}

function typeAt(path: SqlFragment): SqlFragment {
  return fragment`json_type(${PAYLOAD}, ${path})`;
}

/** The SQL value: a text, integer or real as itself, true and false as 1 and 0. */
function valueAt(path: SqlFragment): SqlFragment {
  return fragment`(${PAYLOAD} ->> ${path})`;
}

function textAt(path: SqlFragment): SqlFragment {
  return clauses(
    fragment`CASE ${typeAt(path)}`,
    fragment`WHEN 'text' THEN ${valueAt(path)}`,
    fragment`WHEN 'null' THEN NULL`,
    fragment`ELSE ${PAYLOAD} -> ${path} END`,
  );
}

function numberAt(path: SqlFragment): SqlFragment {
  const value = valueAt(path);
  return clauses(
    fragment`CASE ${typeAt(path)}`,
    fragment`WHEN 'real' THEN ${value}`,
    fragment`WHEN 'integer' THEN CAST(${value} AS REAL)`,
    fragment`WHEN 'text' THEN ${numberFromText(value)} END`,
  );
}

/** Only characters of a number, and valid JSON: together a JSON number without spaces around it. */
function numberFromText(text: SqlFragment): SqlFragment {
  return clauses(
    fragment`CASE WHEN length(${text}) <= ${MAX_NUMERIC_LENGTH}`,
    fragment`AND ${text} NOT GLOB '*[^-+.0-9eE]*'`,
    fragment`AND ${text} NOT GLOB '*[eE]*[0-9][0-9][0-9]'`,
    fragment`AND json_valid(${text})`,
    fragment`THEN CAST(${text} AS REAL) END`,
  );
}

/** Plain paths are SQL literals, so that expression indexes match; any other path is a parameter. */
function pathFragment(segments: readonly PathSegment[]): SqlFragment {
  return isPlainPath(segments) ? trustedSql(`'${jsonPath(segments)}'`) : parameter(jsonPath(segments));
}
