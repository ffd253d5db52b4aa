// The one error class of the engine and its closed list of codes.
// Callers switch on `code`; messages are for people and may change.

/**
 * Codes of refusals and failures.
 *
 * - `invalid_request`: a value of the request is wrong; `parameter` names it.
 * - `prompt_too_long`: the prompt and the requested tokens do not fit the context.
 * - `template_failed`: the chat template is missing, broken, refused the messages or ran out of time.
 * - `overloaded`: the queue is full; try again after `retryAfterMs`.
 * - `model_invalid`: the model folder is unusable; the message names the file and what was expected.
 * - `model_unavailable`: the model's process is starting again after a crash.
 * - `constraint_failed`: the finished text breaks a rule that could only be checked at its end, or its constraint
 *   became too costly to follow; the choice has no valid text.
 * - `engine_failed`: the model call or the model's process failed while this request ran; with `retryAfterMs` the model is
 *   being started again.
 * - `engine_closed`: the engine was closed.
 * - `aborted`: the caller's signal fired.
 */
export type EngineErrorCode =
  | 'invalid_request'
  | 'prompt_too_long'
  | 'template_failed'
  | 'overloaded'
  | 'model_invalid'
  | 'model_unavailable'
  | 'constraint_failed'
  | 'engine_failed'
  | 'engine_closed'
  | 'aborted';

export interface EngineErrorDetails {
  /** Path of the wrong value in the request: `sampling.topP`, `stop.strings[2]`. */
  readonly parameter?: string | undefined;
  /** Delay before the next try. Unit: milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The error every public function of this package throws or ends a stream with. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  readonly parameter: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: EngineErrorCode, message: string, details: EngineErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.parameter = details.parameter;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** Any thrown value as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The result of `work`, or its error as a value, so that the failure of one row does not fail the others. */
export function attempt<Result>(work: () => Result): Result | Error {
  try {
    return work();
  } catch (error) {
    return asError(error);
  }
}

/** Throws when one of our own assumptions is broken; never reachable by user input. */
export function assertInvariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}
