// What a caller can do where no connection to the Hub comes about. Callers: fetch-model.ts, read-listing.ts.

import { HubError } from '../errors.ts';
import { TransportFailure } from './transport-failure.ts';

const ADVICE =
  'Behind a proxy, set NODE_USE_ENV_PROXY=1 and HTTPS_PROXY; HF_ENDPOINT names a mirror; a model on this machine is given by its path.';

/** Adds advice to the error of a failed connection; any other error is returned unchanged. */
export function withConnectionAdvice(error: unknown): unknown {
  if (!(error instanceof HubError) || !(error.cause instanceof TransportFailure)) return error;
  if (error.cause.kind !== 'connection') return error;
  return new HubError(error.code, `${error.message} ${ADVICE}`, { cause: error });
}
