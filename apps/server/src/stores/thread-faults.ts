// Errors of the threads that read bodies.

import { ApiError } from '@ortler/api';
import { WorkerError } from '@ortler/worker';

/** Gives an error of the thread its class again. Throws: always; `storage_unavailable` where the thread has ended. */
export function rethrow(error: unknown): never {
  if (error instanceof ApiError || !(error instanceof Error)) throw error;
  if (error instanceof WorkerError)
    throw new ApiError('storage_unavailable', 'Nothing was stored: the thread that reads bodies has ended.', {
      retryAfterMs: 1_000,
      cause: error,
    });
  const { reason, param, retryAfterMs, faults } = error as Partial<ApiError>;
  if (reason === undefined) throw error;
  throw new ApiError(reason, error.message, { param: param ?? null, retryAfterMs, faults, cause: error });
}
