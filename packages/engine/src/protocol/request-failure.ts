// Converts the failure of one request: the token side sends it as a message, the listener of the text side turns the message
// into an error.

import { EngineError } from '../errors.ts';
import type { RequestFailedMessage } from './messages.ts';

/** Without the cause, which may not be plain data. */
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
