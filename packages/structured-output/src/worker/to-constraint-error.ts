// Maps errors of the worker thread to `ConstraintError`.

import { WorkerError } from '@ortler/worker';
import { ConstraintError } from '../errors.ts';

/** Unit: milliseconds. A queue of the longest preparations is much shorter after it. */
const RETRY_AFTER_MS = 1000;

/** `limits`: the messages for a task that took too long, or too much memory. */
export function toConstraintError(
  error: unknown,
  limits: { readonly timeout: string; readonly crashed: string },
): unknown {
  if (!(error instanceof WorkerError)) return error;
  const options = { cause: error };
  switch (error.code) {
    case 'queue_full': {
      const message = 'Too many constraints wait to be prepared; try again later.';
      return new ConstraintError('overloaded', message, { ...options, retryAfterMs: RETRY_AFTER_MS });
    }
    case 'aborted':
      return new ConstraintError('aborted', 'The request was aborted.', options);
    case 'closed':
      return new ConstraintError('closed', 'The preparer of constraints was closed.', options);
    case 'start_failed':
      return new ConstraintError(
        'failed',
        'The worker thread that prepares constraints could not start.',
        options,
      );
    case 'not_cloneable':
      return new ConstraintError('invalid_constraint', 'The constraint must be plain data.', options);
    case 'timeout':
    case 'crashed':
      return new ConstraintError('invalid_constraint', limits[error.code], options);
    case 'task_failed':
      return new ConstraintError(
        error.taskCode === 'unsatisfied' ? 'unsatisfied' : 'invalid_constraint',
        error.message,
        options,
      );
  }
}
