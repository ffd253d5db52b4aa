// GET /v1/models: the models that a chat request may name.

import { modelList } from '@ortler/schemas';
import { requestHeaders } from '../request-headers.ts';
import type { CatalogModel, Services } from '../services.ts';
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
      .query(() => ({ object: 'list' as const, data: services.models.list().map(toModelRecord) })),
  });
}

function toModelRecord(model: CatalogModel) {
  return {
    id: model.id,
    object: 'model' as const,
    created: model.createdAtSeconds,
    owned_by: model.ownedBy,
    root: model.root,
  };
}
