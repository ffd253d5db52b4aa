// GET /v1/models: the models that a chat request may name.

import { modelList } from '@ortler/schemas';
import { requestHeaders } from '../request-headers.ts';
import type { ModelIdentity, Services } from '../services.ts';
import { createBearerProcedure, router } from '../trpc.ts';

/** Router of the model list. */
export function createModelsRouter(services: Services) {
  return router({
    list: createBearerProcedure(services)
      .meta({
        auth: 'bearer',
        errors: 'openai',
        openapi: {
          method: 'GET',
          path: '/v1/models',
          operationId: 'listModels',
          tags: ['models'],
          requestHeaders,
          summary: 'List the models that can answer a chat completion',
        },
      })
      .output(modelList)
      .query(async () => {
        const own = services.models.list();
        const taken = new Set(own.map(({ id }) => id));
        const checkpoints = await services.checkpointModels.list();
        const reachable = checkpoints.filter(({ id }) => !taken.has(id));
        return { object: 'list' as const, data: [...own, ...reachable].map(toModelRecord) };
      }),
  });
}

function toModelRecord(model: ModelIdentity) {
  return {
    id: model.id,
    object: 'model' as const,
    created: model.createdAtSeconds,
    owned_by: model.ownedBy,
    root: model.root,
  };
}
