// A public error as a REST body: the OpenAI error object, or FastAPI's `detail` for the endpoints that use it.

import { ERROR_TABLE, type PublicError } from '@ortler/api';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';

export type ErrorStyle = 'openai' | 'detail';

/** Fixed texts that clients of the `detail` style expect. Source: FastAPI. */
const DETAIL_TEXTS: Partial<Record<PublicError['reason'], string>> = {
  unauthorized: 'Not authenticated',
  path_not_found: 'Not Found',
  method_not_allowed: 'Method Not Allowed',
};

/** The body of an error reply. */
export function toErrorBody(error: PublicError, style: ErrorStyle): unknown {
  const { message, type, param, status, code, faults, reason } = error;
  if (style === 'openai') return { error: { message, type, param, code: code ?? status } };
  if (faults !== undefined) return { detail: faults };
  return { detail: DETAIL_TEXTS[reason] ?? message };
}

/** The body of an error that was raised before tRPC saw the request, in tRPC's error shape. */
export function toTrpcErrorBody(
  { reason, status, message, type, param, faults, retryAfterMs }: PublicError,
  requestId: string,
) {
  const { trpcCode } = ERROR_TABLE[reason];
  const data = {
    code: trpcCode,
    httpStatus: status,
    requestId,
    reason,
    type,
    param,
    ...(faults !== undefined && { faults }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[trpcCode], data } };
}

/** Headers of an error reply. Unit of Retry-After: seconds, rounded up. */
export function toErrorHeaders(
  error: PublicError,
  scheme: 'Bearer' | 'Basic' = 'Bearer',
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterMs / 1000));
  if (error.status === 401)
    headers['www-authenticate'] = scheme === 'Basic' ? 'Basic realm="ortler"' : scheme;
  return headers;
}
