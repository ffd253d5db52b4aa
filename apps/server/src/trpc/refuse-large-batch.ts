// Refuses tRPC batches past the limit in words that name it: tRPC's own refusal does not.

import { ApiError, MAX_BATCH_CALLS } from '@ortler/api';

/**
 * @param path Names of the procedures of one request, decoded; tRPC joins those of a batch with commas.
 * Throws: `malformed_request`.
 */
export function refuseLargeBatch(path: string): void {
  const callCount = path.split(',').length;
  if (callCount <= MAX_BATCH_CALLS) return;
  throw new ApiError(
    'malformed_request',
    `A batch must hold at most ${MAX_BATCH_CALLS} calls; this one holds ${callCount}. Give the link of the client maxItems: ${MAX_BATCH_CALLS}.`,
  );
}
