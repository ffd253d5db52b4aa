// What all routes of feedback have in common. Callers: the feedback routers beside this file.

import type { ProcedureMeta } from '../trpc/trpc.ts';

/** Describes one route: Basic credentials, and errors as `detail`. */
export function feedbackRoute(path: `/${string}`, operationId: string, summary: string): ProcedureMeta {
  return {
    auth: 'basic',
    errors: 'detail',
    fails: ['forbidden'],
    openapi: { method: 'POST', path, operationId, tags: ['feedback'], summary },
  };
}
