// A public error as a REST body: the OpenAI error object, or FastAPI's `detail` for the endpoints that use it.

import type { PublicError } from '@ortler/api';

export type ErrorStyle = 'openai' | 'detail';

/** The body of an error reply. `code` repeats the HTTP status as a number. */
export function toErrorBody(error: PublicError, style: ErrorStyle): unknown {
  const { message, type, param, status } = error;
  if (style === 'openai') return { error: { message, type, param, code: status } };
  return { detail: message };
}

/** Headers of an error reply. Unit of Retry-After: seconds, rounded up. */
export function toErrorHeaders(error: PublicError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterMs / 1000));
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  return headers;
}
