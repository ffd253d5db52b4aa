// The error class of this package and its closed list of codes. Callers switch on `code`.

/**
 * Why a constraint was refused or a text failed.
 *
 * - `invalid_constraint`: the schema, pattern or grammar is malformed, unsupported, too large or takes too long; the message
 *   ends with the place.
 * - `unsatisfied`: the finished text breaks a rule that could only be checked at its end.
 * - `overloaded`: too many constraints wait to be prepared; try again after `retryAfterMs`.
 * - `aborted`: the caller's signal fired.
 * - `closed`: the preparer was closed.
 * - `failed`: the worker thread could not start.
 */
export type ConstraintErrorCode =
  | 'invalid_constraint'
  | 'unsatisfied'
  | 'overloaded'
  | 'aborted'
  | 'closed'
  | 'failed';

export interface ConstraintErrorDetails {
  /** Unit: milliseconds. How long to wait before another try. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';
  readonly code: ConstraintErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ConstraintErrorCode,
    message: string,
    { retryAfterMs, cause }: ConstraintErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Throws when one of our own assumptions is broken; never reachable by user input. */
export function assertInvariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}
