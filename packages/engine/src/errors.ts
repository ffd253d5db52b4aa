// The one error class of the engine and its closed list of codes.
// Callers switch on `code`; messages are for people and may change.

/**
 * Why the engine refused or failed.
 *
 * - `invalid_request`: a value of the request is wrong; `parameter` names it.
 * - `prompt_too_long`: the prompt and the asked-for tokens do not fit the context.
 * - `template_failed`: the chat template is missing, broken, refused the messages or ran out of time.
 * - `overloaded`: no room in the queue now; try again after `retryAfterMs`.
 * - `model_invalid`: the model folder is unusable; the message names the file and what was expected.
 * - `model_unavailable`: the model's process is starting again after a crash.
 * - `constraint_failed`: the finished text breaks a rule that could only be checked at its end, or its constraint
 *   became too costly to follow; the choice has no valid text.
 * - `engine_failed`: the model call or the model's process failed while this request ran.
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
  /** Path of the wrong value in the request, in engine words: `sampling.topP`, `stop.strings[2]`. */
  readonly parameter?: string;
  /** Unit: milliseconds. How long to wait before another try. */
  readonly retryAfterMs?: number;
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

/** What was thrown, as an error: it may be anything. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The result of `work`, or its error as a value: a fault of one row is no fault of the others. */
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
