// Metadata shared by all feedback routes.

import type { ProcedureMeta } from '../trpc/trpc.ts';

/** Metadata of one route: Basic credentials, and errors as `detail`. */
export function feedbackRoute(path: `/${string}`, operationId: string, summary: string): ProcedureMeta {
  return {
    auth: 'basic',
    errors: 'detail',
    fails: ['forbidden'],
    openapi: { method: 'POST', path, operationId, tags: ['feedback'], summary },
  };
}
