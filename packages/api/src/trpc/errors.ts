// The table of errors: api error codes -> tRPC code, HTTP status and OpenAI error `type`. All errors that clients see are
// built here, for REST and tRPC alike; no other file chooses a status.

import type { EngineErrorCode } from '@ortler/engine';
import { toChatValidationError, type ValidationDetail } from '@ortler/schemas';
import { type TRPC_ERROR_CODE_KEY, TRPCError } from '@trpc/server';
import { ZodError } from 'zod';

interface ErrorRow {
  readonly trpcCode: TRPC_ERROR_CODE_KEY;
  readonly status: number;
  /** `type` of the OpenAI error object. Source: the service this wire format comes from. */
  readonly type: string;
  /** `code` of the OpenAI error object. Default: the status. */
  readonly code?: string;
}

/** All error codes. `malformed_request` is a body that the schema refuses, `invalid_parameter` a value out of range. */
export const ERROR_TABLE = {
  malformed_request: { trpcCode: 'BAD_REQUEST', status: 400, type: 'Bad Request' },
  invalid_parameter: { trpcCode: 'BAD_REQUEST', status: 400, type: 'BadRequestError' },
  /** The code by which OpenAI clients know that a shorter prompt would be answered. */
  context_length_exceeded: {
    trpcCode: 'BAD_REQUEST',
    status: 400,
    type: 'BadRequestError',
    code: 'context_length_exceeded',
  },
  unsupported_parameter: { trpcCode: 'BAD_REQUEST', status: 400, type: 'BadRequestError' },
  /** A request that the schema refuses, on endpoints that answer with a list of faults. */
  invalid_input: { trpcCode: 'UNPROCESSABLE_CONTENT', status: 422, type: 'Unprocessable Entity' },
  unauthorized: { trpcCode: 'UNAUTHORIZED', status: 401, type: 'Unauthorized' },
  /** The key is valid, but the request names an entity of another team. */
  forbidden: { trpcCode: 'FORBIDDEN', status: 403, type: 'PermissionDeniedError' },
  /** The request came by a host name that is not this server's. */
  host_not_allowed: { trpcCode: 'FORBIDDEN', status: 403, type: 'PermissionDeniedError' },
  model_not_found: { trpcCode: 'NOT_FOUND', status: 404, type: 'NotFoundError' },
  not_found: { trpcCode: 'NOT_FOUND', status: 404, type: 'NotFoundError' },
  path_not_found: { trpcCode: 'NOT_FOUND', status: 404, type: 'Not Found' },
  method_not_allowed: { trpcCode: 'METHOD_NOT_SUPPORTED', status: 405, type: 'Method Not Allowed' },
  conflict: { trpcCode: 'CONFLICT', status: 409, type: 'Conflict' },
  body_too_large: { trpcCode: 'PAYLOAD_TOO_LARGE', status: 413, type: 'Request Entity Too Large' },
  overloaded: { trpcCode: 'TOO_MANY_REQUESTS', status: 429, type: 'TooManyRequestsError' },
  /** The forms of OpenAI, so that its clients know which limit was reached. */
  rate_limit_requests: {
    trpcCode: 'TOO_MANY_REQUESTS',
    status: 429,
    type: 'requests',
    code: 'rate_limit_exceeded',
  },
  rate_limit_tokens: {
    trpcCode: 'TOO_MANY_REQUESTS',
    status: 429,
    type: 'tokens',
    code: 'rate_limit_exceeded',
  },
  aborted: { trpcCode: 'CLIENT_CLOSED_REQUEST', status: 499, type: 'ClientClosedRequest' },
  /** The answer would exceed the size limit of one reply. */
  answer_too_large: { trpcCode: 'BAD_REQUEST', status: 400, type: 'BadRequestError' },
  constraint_failed: { trpcCode: 'INTERNAL_SERVER_ERROR', status: 500, type: 'InternalServerError' },
  internal: { trpcCode: 'INTERNAL_SERVER_ERROR', status: 500, type: 'InternalServerError' },
  model_unavailable: { trpcCode: 'SERVICE_UNAVAILABLE', status: 503, type: 'ServiceUnavailableError' },
  /** Nothing was stored: the disk is full. */
  storage_full: {
    trpcCode: 'SERVICE_UNAVAILABLE',
    status: 503,
    type: 'ServiceUnavailableError',
    code: 'storage_full',
  },
  /** The database does not answer, or its file is damaged or gone. */
  storage_unavailable: {
    trpcCode: 'SERVICE_UNAVAILABLE',
    status: 503,
    type: 'ServiceUnavailableError',
    code: 'storage_unavailable',
  },
  /** A server that answers for a model cannot be reached, broke off, or answered with something else. */
  upstream_failed: { trpcCode: 'BAD_GATEWAY', status: 502, type: 'BadGateway', code: 'upstream_failed' },
  upstream_timeout: {
    trpcCode: 'GATEWAY_TIMEOUT',
    status: 504,
    type: 'GatewayTimeout',
    code: 'upstream_timeout',
  },
  query_timeout: { trpcCode: 'GATEWAY_TIMEOUT', status: 504, type: 'GatewayTimeout' },
} as const satisfies Record<string, ErrorRow>;

export type ApiErrorCode = keyof typeof ERROR_TABLE;

/** Wire code of each engine error. Failures inside the engine are bugs or crashes, so they are `internal`. */
export const ENGINE_ERROR_TABLE = {
  invalid_request: 'invalid_parameter',
  prompt_too_long: 'context_length_exceeded',
  template_failed: 'invalid_parameter',
  overloaded: 'overloaded',
  model_invalid: 'model_unavailable',
  model_unavailable: 'model_unavailable',
  constraint_failed: 'constraint_failed',
  engine_failed: 'internal',
  engine_closed: 'model_unavailable',
  aborted: 'aborted',
} as const satisfies Record<EngineErrorCode, ApiErrorCode>;

const DISK_FULL = 'Nothing was stored, because the disk of the server is full.';

export interface ApiErrorDetails {
  /** Wire name of the wrong field. */
  readonly param?: string | null;
  /** Unit: milliseconds. Becomes the Retry-After header. */
  readonly retryAfterMs?: number | undefined;
  /** The faults of an `invalid_input`. */
  readonly faults?: readonly ValidationDetail[] | undefined;
  readonly cause?: unknown;
}

/** An error with a public message. It extends `TRPCError`, so that tRPC reports the right status. */
export class ApiError extends TRPCError {
  readonly reason: ApiErrorCode;
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;
  readonly faults: readonly ValidationDetail[] | undefined;

  constructor(reason: ApiErrorCode, message: string, details: ApiErrorDetails = {}) {
    super({ code: ERROR_TABLE[reason].trpcCode, message, cause: details.cause });
    this.reason = reason;
    this.param = details.param ?? null;
    this.retryAfterMs = details.retryAfterMs;
    this.faults = details.faults;
  }
}

/** An error as clients see it, on any transport. */
export interface PublicError {
  readonly reason: ApiErrorCode;
  readonly status: number;
  readonly message: string;
  readonly type: string;
  /** `code` of the OpenAI error object, where it is not the status. */
  readonly code?: string;
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;
  /** Each fault of an `invalid_input`. */
  readonly faults?: readonly ValidationDetail[];
}

/**
 * Maps any thrown value to a public error. Internal failures get a fixed message with the request id.
 * @param input The body that a schema refused, which distinguishes missing fields from wrong ones.
 */
export function toPublicError(error: unknown, requestId: string, input?: unknown): PublicError {
  const known = toApiError(error, input);
  const { status, type, code }: ErrorRow = ERROR_TABLE[known.reason];
  const message =
    known.reason === 'internal'
      ? `The server failed to answer this request. Its log has the details under request id ${requestId}.`
      : known.message;
  const { reason, param, retryAfterMs, faults } = known;
  return {
    reason,
    status,
    message,
    type,
    param,
    retryAfterMs: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs),
    ...(code !== undefined && { code }),
    ...(faults !== undefined && { faults }),
  };
}

function toApiError(error: unknown, input: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isDiskFull(error))
    return new ApiError('storage_full', DISK_FULL, { retryAfterMs: 30_000, cause: error });
  if (!(error instanceof TRPCError)) return new ApiError('internal', 'Unexpected failure.', { cause: error });
  if (error.cause instanceof ApiError) return error.cause;
  if (isDiskFull(error.cause)) return toApiError(error.cause, input);
  if (error.code === 'BAD_REQUEST' && error.cause instanceof ZodError)
    return fromZodError(error.cause, input);
  return new ApiError(reasonOfTrpcCode(error.code), error.message, { cause: error });
}

/** A file of the server, such as a spool, that could not be written. */
function isDiskFull(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as { readonly code?: unknown; readonly syscall?: unknown };
  return syscall !== undefined && (code === 'ENOSPC' || code === 'EDQUOT');
}

function fromZodError(error: ZodError, input: unknown): ApiError {
  const { message, param } = toChatValidationError(error, input);
  return new ApiError('malformed_request', message, { param });
}

// Errors that tRPC throws before a procedure runs.
function reasonOfTrpcCode(code: TRPC_ERROR_CODE_KEY): ApiErrorCode {
  switch (code) {
    case 'BAD_REQUEST':
    case 'PARSE_ERROR':
    case 'UNSUPPORTED_MEDIA_TYPE':
      return 'malformed_request';
    case 'NOT_FOUND':
      return 'path_not_found';
    case 'METHOD_NOT_SUPPORTED':
      return 'method_not_allowed';
    case 'PAYLOAD_TOO_LARGE':
      return 'body_too_large';
    case 'CLIENT_CLOSED_REQUEST':
      return 'aborted';
    default:
      return 'internal';
  }
}
