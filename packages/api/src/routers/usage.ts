// GET /v1/organization/usage/completions: the usage of keys, teams, projects and models, in the form of OpenAI.

import { usageInput, usagePage } from '@ortler/schemas';
import type { Services } from '../ports/services.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { createBearerProcedure, router } from '../trpc/trpc.ts';
import { reportUsage } from '../usage/report-usage.ts';

/** Router of `completions`: chats, completions and responses together. */
export function createUsageRouter(services: Services) {
  return router({
    completions: createBearerProcedure(services)
      .meta({
        auth: 'bearer',
        errors: 'openai',
        fails: ['forbidden'],
        openapi: {
          method: 'GET',
          path: '/v1/organization/usage/completions',
          operationId: 'listUsage',
          tags: ['usage'],
          requestHeaders,
          summary: 'Sum up what was used on each day',
          description:
            'Chats, completions and responses together. A key of a team sees the usage of its team, a key without one that of all.',
        },
      })
      .input(usageInput)
      .output(usagePage)
      .query(({ ctx, input }) => reportUsage(services, ctx.principal, input)),
  });
}
