// The one error class of this package and its closed list of codes.
// The door of a service turns `fault` into a status and `path` into a location; nothing here knows HTTP.

/**
 * Why a query is refused, by whose fault.
 *
 * - `malformed`: the value has not the shape the grammar asks for.
 * - `unanswerable`: the shape is right, but the query asks for something that has no meaning.
 */
export type QueryFault = 'malformed' | 'unanswerable';

/** Every code of a refusal, with the fault it belongs to. */
export const QUERY_ERROR_FAULTS = Object.freeze({
  /** A required key or operand is absent. */
  missing: 'malformed',
  /** A key is not part of the grammar. */
  extra_forbidden: 'malformed',
  /** The object names no operator this grammar has. */
  unknown_operator: 'malformed',
  /** Two operators in one object. */
  ambiguous_operator: 'malformed',
  /** A literal, field or value operator stands where only an operation may stand. */
  operation_expected: 'malformed',
  /** An operator got more operands than it takes. */
  too_long: 'malformed',
  object_type: 'malformed',
  tuple_type: 'malformed',
  list_type: 'malformed',
  string_type: 'malformed',
  bool_type: 'malformed',
  int_type: 'malformed',
  /** The value is none of a fixed set. */
  literal_error: 'malformed',
  /** A literal is neither a JSON scalar nor a structure of wrapped literals. */
  literal_type: 'malformed',
  /** A text holds NUL or half of a surrogate pair, which no database stores. */
  invalid_text: 'malformed',
  /** A number is not finite. */
  finite_number: 'malformed',
  negative_index: 'malformed',
  /** `count(*)` next to other fields. */
  mixed_count: 'malformed',
  /** The expression nests deeper than the limit. */
  too_deep: 'malformed',
  /** The expression, a list or a text is larger than its limit. */
  too_large: 'malformed',
  /** A cursor does not belong to the sort order of the query. */
  invalid_cursor: 'malformed',
  unknown_field: 'unanswerable',
  /** `$and` or `$or` without an operand. */
  empty_operation: 'unanswerable',
  /** A literal object or list: no database type holds it. */
  structured_literal: 'unanswerable',
  /** The two sides of a comparison can never be equal in type. */
  no_common_type: 'unanswerable',
  /** A literal compared with a date is neither ISO 8601 nor Unix seconds. */
  invalid_datetime: 'unanswerable',
  /** The operator or conversion has no meaning for this kind of operand. */
  unsupported_operand: 'unanswerable',
  negative_limit: 'unanswerable',
  limit_too_large: 'unanswerable',
} as const satisfies Readonly<Record<string, QueryFault>>);

export type QueryErrorCode = keyof typeof QUERY_ERROR_FAULTS;

/** Where in the request a fault lies: object keys and list positions from the request's root. */
export type QueryPath = readonly (string | number)[];

/** The error every public function of this package throws for a query it refuses. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly code: QueryErrorCode;
  readonly path: QueryPath;

  constructor(code: QueryErrorCode, path: QueryPath, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }

  /** Whether the shape or the meaning is wrong. */
  get fault(): QueryFault {
    return QUERY_ERROR_FAULTS[this.code];
  }
}

/** Ends an exhaustive switch; the type checker proves that it is never reached. */
export function assertNever(value: never): never {
  throw new Error(`Unreachable variant: ${JSON.stringify(value)}`);
}
