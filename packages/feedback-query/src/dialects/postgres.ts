// PostgreSQL 15 and later. `payload_dump` is the JSON text as stored and `payload` the same as jsonb: jsonb is fast to
// read, but rewrites numbers and key order, so the text of anything but a string is read from `payload_dump`.
// List columns are text[], map columns jsonb, datetimes timestamptz(3).
import { PostgresAdapter, PostgresQueryCompiler } from 'kysely';
import type { Cast, PayloadReading } from '../bind/bound-node.ts';
import type { Column } from '../bind/columns.ts';
import { toIsoMs } from '../bind/datetime-literal.ts';
import type { PathSegment } from '../bind/fields.ts';
import {
  type DialectSyntax,
  isPlainKey,
  isPlainPath,
  jsonPath,
  NUMERIC_TEXT,
  NUMERIC_TEXT_LENGTH,
  type QueryDialect,
  TABLE_ALIAS,
} from '../compile/dialect.ts';
import {
  clauses,
  fragment,
  joinFragments,
  parameter,
  type SqlFragment,
  trustedSql,
} from '../compile/sql-fragment.ts';
import { assertNever } from '../errors.ts';
import { BaseSyntax, byteOf, flagOf } from './base-syntax.ts';

export const postgresDialect: QueryDialect = Object.freeze({
  name: 'postgres',
  createSyntax: () => new PostgresSyntax(),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createAdapter: () => new PostgresAdapter(),
});

const DUMP = trustedSql(`${TABLE_ALIAS}.payload_dump`);
const DUMP_JSON = trustedSql(`${TABLE_ALIAS}.payload_dump::json`);
const PAYLOAD = trustedSql(`${TABLE_ALIAS}.payload`);
const NUMERIC = trustedSql(`'${NUMERIC_TEXT}'`);
const MAX_NUMERIC_LENGTH = trustedSql(String(NUMERIC_TEXT_LENGTH));

class PostgresSyntax extends BaseSyntax implements DialectSyntax {
  text(value: string): SqlFragment {
    return fragment`${parameter(value)}::text`;
  }
  number(value: number): SqlFragment {
    return fragment`${parameter(value)}::float8`;
  }
  datetime(epochMs: number): SqlFragment {
    return fragment`${parameter(toIsoMs(epochMs))}::timestamptz`;
  }
  rowCount(value: number): SqlFragment {
    return fragment`${parameter(value)}::bigint`;
  }

  mapValue(column: Column, key: string): SqlFragment {
    const value = fragment`(${this.column(column)} ->> ${this.text(key)})`;
    return column.type === 'number-map' ? fragment`${value}::float8` : value;
  }
  columnSize(column: Column): SqlFragment {
    if (column.type === 'text-list') return fragment`cardinality(${this.column(column)})`;
    return fragment`(SELECT count(*) FROM jsonb_object_keys(${this.column(column)}))`;
  }
  hasElement(column: Column, needle: SqlFragment, foldCase: boolean): SqlFragment {
    if (!foldCase) return fragment`(${needle} = ANY(${this.column(column)}))`;
    return clauses(
      fragment`EXISTS (SELECT 1`,
      fragment`FROM unnest(${this.column(column)}) AS element(value)`,
      fragment`WHERE ${this.foldCase(trustedSql('element.value'))} = ${this.foldCase(needle)})`,
    );
  }
  columnOutput(column: Column): SqlFragment {
    switch (column.type) {
      case 'text':
        return this.column(column);
      case 'datetime':
        return this.cast('datetime-to-text', this.column(column));
      case 'json':
        return DUMP;
      case 'text-list':
        return fragment`to_json(${this.column(column)})::text`;
      case 'text-map':
      case 'number-map':
        return fragment`${this.column(column)}::text`;
      default:
        return assertNever(column.type);
    }
  }

  payload(segments: readonly PathSegment[], reading: PayloadReading): SqlFragment {
    const value = jsonbAt(segments);
    switch (reading) {
      case 'text':
        return segments.length === 0 ? DUMP : textAt(value, segments);
      case 'number':
        return numberAt(value);
      case 'flag':
        return flagOf(textAt(value, segments), this.cast('number-to-flag', numberAt(value)));
      default:
        return assertNever(reading);
    }
  }
  payloadOutput(segments: readonly PathSegment[]): SqlFragment {
    return dumpAt(segments);
  }
  payloadExists(segments: readonly PathSegment[]): SqlFragment {
    return fragment`(${jsonbAt(segments)} IS NOT NULL)`;
  }
  payloadIsNumber(segments: readonly PathSegment[]): SqlFragment {
    return fragment`(jsonb_typeof(${jsonbAt(segments)}) = 'number')`;
  }
  payloadTruth(segments: readonly PathSegment[]): SqlFragment {
    const value = jsonbAt(segments);
    return clauses(
      fragment`(CASE jsonb_typeof(${value})`,
      fragment`WHEN 'boolean' THEN ${value}::boolean`,
      fragment`WHEN 'number' THEN ${value}::float8 <> 0`,
      fragment`WHEN 'string' THEN ${value} #>> '{}' <> ''`,
      fragment`WHEN 'null' THEN false`,
      fragment`ELSE ${value} IS NOT NULL END)`,
    );
  }
  payloadSize(segments: readonly PathSegment[]): SqlFragment {
    const value = jsonbAt(segments);
    return clauses(
      fragment`CASE jsonb_typeof(${value})`,
      fragment`WHEN 'array' THEN jsonb_array_length(${value})`,
      fragment`WHEN 'object' THEN (SELECT count(*) FROM jsonb_object_keys(${value}))`,
      fragment`WHEN 'string' THEN char_length(${value} #>> '{}') END`,
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
            fragment`CASE WHEN ${value} >= -9223372036854775808::float8`,
            fragment`AND ${value} < 9223372036854775808::float8`,
            fragment`THEN trunc(${value}) END`,
          ),
        );
      case 'integer-to-text':
        return fragment`(${input})::bigint::text`;
      case 'datetime-to-text':
        return fragment`to_char(${input} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
      default:
        return assertNever(cast);
    }
  }
  textLength(input: SqlFragment): SqlFragment {
    return fragment`char_length(${input})`;
  }
  foldCase(input: SqlFragment): SqlFragment {
    return fragment`lower((${input}) COLLATE "C")`;
  }
  contains(input: SqlFragment, needle: SqlFragment): SqlFragment {
    return fragment`(strpos(${input}, ${needle}) > 0)`;
  }
  startsWith(input: SqlFragment, needle: SqlFragment): SqlFragment {
    return fragment`starts_with(${input}, ${needle})`;
  }
  byteOrder(input: SqlFragment): SqlFragment {
    return fragment`(${input}) COLLATE "C"`;
  }

  /** OFFSET 0 keeps the planner from inlining the value into each use. */
  share(value: SqlFragment, use: (shared: SqlFragment) => SqlFragment): SqlFragment {
    const name = this.newName();
    return fragment`(SELECT ${use(name)} FROM (SELECT ${value} AS ${name} OFFSET 0) AS t)`;
  }
  /** Not the text of PostgreSQL itself, whose form is a setting (`DateStyle`) and may not sort by time. */
  momentAndId(moment: SqlFragment, id: SqlFragment): SqlFragment {
    return fragment`(${this.cast('datetime-to-text', moment)} || ' ' || ${id}) COLLATE "C"`;
  }
  countRows(): SqlFragment {
    return trustedSql('count(*)');
  }
}

/** One `->` per key; a path with a list position is a strict JSON path, because `'5'::jsonb -> 0` is 5. */
function jsonbAt(segments: readonly PathSegment[]): SqlFragment {
  if (!segments.some(segment => typeof segment === 'number')) return stepInto(PAYLOAD, segments);
  const path = `strict ${jsonPath(segments)}`;
  const written = isPlainPath(segments) ? trustedSql(`'${path}'`) : fragment`${parameter(path)}::jsonpath`;
  return fragment`jsonb_path_query_first(${PAYLOAD}, ${written}, '{}', true)`;
}

/** JSON text of the value as stored. */
function dumpAt(segments: readonly PathSegment[]): SqlFragment {
  return segments.length === 0 ? DUMP : fragment`${stepInto(DUMP_JSON, segments)}::text`;
}

function stepInto(base: SqlFragment, segments: readonly PathSegment[]): SqlFragment {
  if (segments.length === 0) return base;
  const steps = segments.map(segment => {
    if (typeof segment === 'number') return trustedSql(String(segment));
    return isPlainKey(segment) ? trustedSql(`'${segment}'`) : fragment`${parameter(segment)}::text`;
  });
  return fragment`(${joinFragments([base, ...steps], ' -> ')})`;
}

function textAt(value: SqlFragment, segments: readonly PathSegment[]): SqlFragment {
  return clauses(
    fragment`CASE jsonb_typeof(${value})`,
    fragment`WHEN 'string' THEN ${value} #>> '{}'`,
    fragment`WHEN 'null' THEN NULL`,
    fragment`ELSE ${dumpAt(segments)} END`,
  );
}

function numberAt(value: SqlFragment): SqlFragment {
  return clauses(
    fragment`CASE jsonb_typeof(${value})`,
    fragment`WHEN 'number' THEN ${value}::float8`,
    fragment`WHEN 'string' THEN ${numberFromText(fragment`(${value} #>> '{}')`)} END`,
  );
}

function numberFromText(text: SqlFragment): SqlFragment {
  return clauses(
    fragment`CASE WHEN char_length(${text}) <= ${MAX_NUMERIC_LENGTH}`,
    fragment`AND ${text} ~ ${NUMERIC}`,
    fragment`THEN ${text}::float8 END`,
  );
}
