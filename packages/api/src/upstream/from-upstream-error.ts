// What went wrong with upstream servers -> the wire. Faults of the request are reported in the server's
// words; all others without addresses, which the log has.

import { UpstreamError, type UpstreamErrorCode } from '@ortler/upstream';
import { ApiError, type ApiErrorCode } from '../trpc/errors.ts';
import type { Fields } from './reply-shape.ts';

/** Statuses by which a server refuses the request itself. Others below 500 are the operator's: a key, a path, a name. */
const REFUSALS: Readonly<Record<number, ApiErrorCode>> = {
  400: 'invalid_parameter',
  413: 'body_too_large',
  422: 'invalid_parameter',
};

const FAILURES: Readonly<
  Record<Exclude<UpstreamErrorCode, 'rejected'>, { readonly reason: ApiErrorCode; readonly what: string }>
> = {
  unreachable: { reason: 'upstream_failed', what: 'cannot be reached' },
  broken: { reason: 'upstream_failed', what: 'lost the connection before the end of the answer' },
  invalid_reply: { reason: 'upstream_failed', what: 'sent something that is not an answer' },
  failed: { reason: 'upstream_failed', what: 'failed to answer' },
  slow: { reason: 'upstream_timeout', what: 'did not begin to answer in time' },
  silent: { reason: 'upstream_timeout', what: 'stopped within its answer' },
  rate_limited: { reason: 'overloaded', what: 'has too many requests' },
  unavailable: { reason: 'model_unavailable', what: 'failed too often and is not asked now' },
};

/** @param id Of the model, for messages. */
export function fromUpstreamError(error: unknown, id: string, signal: AbortSignal): unknown {
  if (signal.aborted)
    return signal.reason instanceof ApiError
      ? signal.reason
      : new ApiError('aborted', 'The caller left.', { cause: error });
  if (!(error instanceof UpstreamError)) return error;
  const { code, status, retryAfterMs } = error;
  if (code === 'rejected') return fromRefusal(error, id);
  const { reason, what } = FAILURES[code];
  return new ApiError(
    // The server's status where it means the same here.
    status === 503 ? 'model_unavailable' : status === 504 ? 'upstream_timeout' : reason,
    `The server of the model ${id} ${what}${status === undefined ? '' : ` (status ${status})`}.`,
    { param: 'model', retryAfterMs, cause: error },
  );
}

function fromRefusal(error: UpstreamError, id: string): ApiError {
  const reason = REFUSALS[error.status!];
  const { message, param, code } = readErrorObject(error.body);
  if (reason === undefined)
    return new ApiError(
      'upstream_failed',
      `The server of the model ${id} refused this server's request (status ${error.status}). The operator's log has the reason.`,
      { param: 'model', cause: error },
    );
  return new ApiError(
    code === 'context_length_exceeded' ? code : reason,
    message ?? `The server of the model ${id} refused the request (status ${error.status}).`,
    { param, cause: error },
  );
}

/**
 * The error that an answer with status 200 holds, as an event of a stream or in place of its body; undefined: it holds none.
 * @param withoutKey Applied to the server's words.
 */
export function findError(
  reply: Fields,
  id: string,
  withoutKey: (text: string) => string,
): ApiError | undefined {
  // The second form is that of older vLLM.
  if (reply.error == null && reply.object !== 'error') return undefined;
  const { message } = readErrorObject(withoutKey(JSON.stringify(reply)));
  const said = message === undefined ? '' : `: ${message}`;
  return new ApiError('upstream_failed', `The server of the model ${id} failed within its answer${said}`, {
    param: 'model',
  });
}

interface ErrorObject {
  readonly message: string | undefined;
  readonly param: string | null;
  readonly code: unknown;
}

/** OpenAI's error object, that of older vLLM without its wrapper, or a text of FastAPI. */
function readErrorObject(body = ''): ErrorObject {
  const sent = parseObject(body);
  const error = isObject(sent.error) ? sent.error : sent;
  const message = [error.message, sent.error, sent.detail].find(text => typeof text === 'string');
  return {
    message: message as string | undefined,
    param: typeof error.param === 'string' ? error.param : null,
    code: error.code,
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
