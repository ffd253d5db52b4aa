// The interface of an SQL dialect. The compiler writes database-specific SQL only through it; dialects/ implements it,
// and a new database is one more `DialectSyntax`. All implementations must agree with test/reference-evaluator.ts.
import type { DialectAdapter, QueryCompiler } from 'kysely';
import type { Cast, PayloadReading } from '../bind/bound-node.ts';
import type { Column } from '../bind/columns.ts';
import type { PathSegment } from '../bind/fields.ts';
import type { SqlFragment } from './sql-fragment.ts';

/** Alias of the feedback table in every query; every column is qualified with it. */
export const TABLE_ALIAS = 'f';

/** A target database. */
export interface QueryDialect {
  readonly name: 'sqlite' | 'postgres' | 'clickhouse';
  /** A new instance per query, because it numbers generated names. */
  createSyntax(): DialectSyntax;
  createQueryCompiler(): QueryCompiler;
  createAdapter(): DialectAdapter;
}

/** SQL of values and predicates. A missing value is null. */
export interface DialectSyntax {
  /** Parameters. Datetime unit: milliseconds since 1970. */
  text(value: string): SqlFragment;
  number(value: number): SqlFragment;
  datetime(epochMs: number): SqlFragment;
  /** LIMIT or OFFSET; a whole number of at least 0. */
  rowCount(value: number): SqlFragment;

  /** A stored text or datetime column. */
  column(column: Column): SqlFragment;
  mapValue(column: Column, key: string): SqlFragment;
  /** Number of elements of a list column or keys of a map column. */
  columnSize(column: Column): SqlFragment;
  /** Whether a list column contains the element. */
  hasElement(column: Column, needle: SqlFragment, foldCase: boolean): SqlFragment;
  /** The column in an answer: ISO text for datetimes, JSON text for lists, maps and the payload. */
  columnOutput(column: Column): SqlFragment;

  payload(segments: readonly PathSegment[], reading: PayloadReading): SqlFragment;
  /** JSON text of the payload value; null when missing. */
  payloadOutput(segments: readonly PathSegment[]): SqlFragment;
  /** True when the key is present, even with the value null. Never null. */
  payloadExists(segments: readonly PathSegment[]): SqlFragment;
  /** True when the value is a JSON number. */
  payloadIsNumber(segments: readonly PathSegment[]): SqlFragment;
  /** False for null, false, 0 and the empty text; true for any other value; null or false when missing. */
  payloadTruth(segments: readonly PathSegment[]): SqlFragment;
  /** Number of elements of a list, keys of an object or characters of a string; else null. */
  payloadSize(segments: readonly PathSegment[]): SqlFragment;

  cast(cast: Cast, input: SqlFragment): SqlFragment;
  /** Unit: Unicode characters. */
  textLength(input: SqlFragment): SqlFragment;
  /** Lower case of ASCII letters only, the same in every database. */
  foldCase(input: SqlFragment): SqlFragment;
  contains(input: SqlFragment, needle: SqlFragment): SqlFragment;
  startsWith(input: SqlFragment, needle: SqlFragment): SqlFragment;
  /** The text with a collation that compares UTF-8 bytes. */
  byteOrder(input: SqlFragment): SqlFragment;

  /** Evaluates a value once for all its uses, so that the SQL text stays linear in the size of the query. */
  share(value: SqlFragment, use: (shared: SqlFragment) => SqlFragment): SqlFragment;
  /** `<created_at> <id>` as one text that sorts by time, then by id. */
  momentAndId(moment: SqlFragment, id: SqlFragment): SqlFragment;
  countRows(): SqlFragment;
  /** `IN` compares numbers by their bits, in which -0 is not 0. */
  readonly listsNumbersByBits: boolean;
  /** A condition that is always true, at which the database may stop a long statement. Null: it needs none. */
  interruptionPoint(): SqlFragment | null;
}

/** A text is numeric when it is a JSON number of at most this many characters, ... */
export const NUMERIC_TEXT_LENGTH = 64;
/** ... with at most two exponent digits, so that no database overflows when it parses it. */
export const NUMERIC_TEXT = '^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]{1,2})?$';

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Whether a key may be part of the SQL text, so that an expression index on it can be used. */
export function isPlainKey(key: string): boolean {
  return PLAIN_KEY.test(key);
}

/** Whether a path has only plain keys and list positions. */
export function isPlainPath(segments: readonly PathSegment[]): boolean {
  return segments.every(segment => typeof segment === 'number' || isPlainKey(segment));
}

/** `$."a"[0]`, in the notation SQLite and PostgreSQL share. */
export function jsonPath(segments: readonly PathSegment[]): string {
  const steps = segments.map(segment =>
    typeof segment === 'number' ? `[${segment}]` : `.${JSON.stringify(segment)}`,
  );
  return `$${steps.join('')}`;
}
