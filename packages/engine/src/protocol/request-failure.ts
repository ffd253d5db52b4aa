// The failure of one request as a message and as an error. Callers: the token side, which sends the one, and the
// listener of the text side, which makes the other of it.

import { EngineError } from '../errors.ts';
import type { RequestFailedMessage } from './messages.ts';

/** Leaves out the cause, which may be no plain data. */
export function toRequestFailedMessage(requestId: number, error: EngineError): RequestFailedMessage {
  const { code, message } = error;
  return { kind: 'request-failed', requestId, code, message, ...detailsOf(error) };
}

export function toEngineError(failed: RequestFailedMessage): EngineError {
  return new EngineError(failed.code, failed.message, detailsOf(failed));
}

function detailsOf({
  parameter,
  retryAfterMs,
}: {
  readonly parameter?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}): Pick<RequestFailedMessage, 'parameter' | 'retryAfterMs'> {
  return {
    ...(parameter === undefined ? {} : { parameter }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
