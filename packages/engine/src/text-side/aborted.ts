// The error of a request whose signal fired.

import { EngineError } from '../errors.ts';
import { describeValue } from '../request/describe-value.ts';
import { wrongParameter } from '../request/parameter-checks.ts';

/** Throws: `invalid_request` for a value that aborts nothing. */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || signal === null) return;
  // By what it can do, because an environment of tests may bring its own class.
  if (typeof (signal as AbortSignal).addEventListener === 'function') return;
  throw wrongParameter('signal', `signal must be an AbortSignal; got ${describeValue(signal)}.`);
}

/** Throws: `aborted`. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal);
}

export function aborted(signal: AbortSignal | undefined): EngineError {
  return new EngineError('aborted', 'The request was aborted.', { cause: signal?.reason });
}
