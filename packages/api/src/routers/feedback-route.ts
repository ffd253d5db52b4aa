// Metadata shared by all feedback routes.

import type { ApiErrorCode } from '../trpc/errors.ts';
import type { ProcedureMeta } from '../trpc/trpc.ts';

/**
 * Metadata of one route: Basic credentials, and errors as `detail`.
 * @param fails Errors of this route alone.
 */
export function feedbackRoute(
  path: `/${string}`,
  operationId: string,
  summary: string,
  fails: readonly ApiErrorCode[] = [],
): ProcedureMeta {
  return {
    auth: 'basic',
    errors: 'detail',
    fails: ['forbidden', ...fails],
    openapi: { method: 'POST', path, operationId, tags: ['feedback'], summary },
  };
}
