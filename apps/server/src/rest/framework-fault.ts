// Errors that Fastify raises before any of our code runs, as clients get them.

import { type PublicError, toPublicError } from '@ortler/api';

/** The public form of an error that a Fastify error handler gets. */
export function toFrameworkError(error: unknown, requestId: string): PublicError {
  return { ...toPublicError(error, requestId), ...faultOf(error) };
}

function faultOf(error: unknown): Partial<PublicError> {
  const { statusCode, message } = error as { readonly statusCode?: number; readonly message?: string };
  if (statusCode === undefined || statusCode >= 500 || message === undefined) return {};
  if (statusCode === 413)
    return { reason: 'body_too_large', status: 413, type: 'Request Entity Too Large', message };
  const reason = statusCode === 404 ? 'path_not_found' : 'malformed_request';
  return { reason, status: statusCode, type: statusCode === 404 ? 'Not Found' : 'Bad Request', message };
}

/** Whether Fastify refuses the content type of a request. */
export function isMediaTypeFault(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE';
}
