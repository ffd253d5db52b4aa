// The error class of this package and its closed list of codes. A service maps `fault` to a status and `path` to a
// location; nothing here knows HTTP.

/**
 * The class of an error.
 *
 * - `malformed`: the value does not match the grammar.
 * - `unanswerable`: the value matches the grammar, but the query has no meaning.
 */
export type QueryFault = 'malformed' | 'unanswerable';

/** Every error code and its class. */
export const QUERY_ERROR_FAULTS = Object.freeze({
  /** A required key or operand is absent. */
  missing: 'malformed',
  /** A key is not part of the grammar. */
  extra_forbidden: 'malformed',
  /** The object has no operator of the grammar. */
  unknown_operator: 'malformed',
  /** Two operators in one object. */
  ambiguous_operator: 'malformed',
  /** A literal, a field or a value operator where an operation is required. */
  operation_expected: 'malformed',
  /** An operator has too many operands. */
  too_long: 'malformed',
  object_type: 'malformed',
  tuple_type: 'malformed',
  list_type: 'malformed',
  string_type: 'malformed',
  bool_type: 'malformed',
  int_type: 'malformed',
  /** The value is not in a fixed set. */
  literal_error: 'malformed',
  /** A literal is neither a JSON scalar nor a structure of wrapped literals. */
  literal_type: 'malformed',
  /** A text contains NUL or an unpaired surrogate, which no database stores. */
  invalid_text: 'malformed',
  /** A number is not finite. */
  finite_number: 'malformed',
  negative_index: 'malformed',
  /** `count(*)` next to other fields. */
  mixed_count: 'malformed',
  /** The expression is nested deeper than the limit. */
  too_deep: 'malformed',
  /** The expression, a list or a text is larger than its limit. */
  too_large: 'malformed',
  /** A cursor does not belong to the sort order of the query. */
  invalid_cursor: 'malformed',
  unknown_field: 'unanswerable',
  /** `$and` or `$or` without an operand. */
  empty_operation: 'unanswerable',
  /** A literal object or list, which has no SQL type. */
  structured_literal: 'unanswerable',
  /** The two sides of a comparison have no common type. */
  no_common_type: 'unanswerable',
  /** A literal compared with a date is neither ISO 8601 nor Unix seconds. */
  invalid_datetime: 'unanswerable',
  /** The operator or conversion has no meaning for this kind of operand. */
  unsupported_operand: 'unanswerable',
  negative_limit: 'unanswerable',
  limit_too_large: 'unanswerable',
} as const satisfies Readonly<Record<string, QueryFault>>);

export type QueryErrorCode = keyof typeof QUERY_ERROR_FAULTS;

/** Location of an error: object keys and list positions from the request's root. */
export type QueryPath = readonly (string | number)[];

/** Thrown by every public function of this package for an invalid query. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly code: QueryErrorCode;
  readonly path: QueryPath;

  constructor(code: QueryErrorCode, path: QueryPath, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }

  /** The class of the code. */
  get fault(): QueryFault {
    return QUERY_ERROR_FAULTS[this.code];
  }
}

/** The default case of an exhaustive switch; the type checker proves that it is unreachable. */
export function assertNever(value: never): never {
  throw new Error(`Unreachable variant: ${JSON.stringify(value)}`);
}
