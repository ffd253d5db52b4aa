// GET /v1/models and GET /v1/models/{model_id}: the models that a request may name. POST /v1/models/load and /v1/models/unload:
// checkpoints in and out of memory.

import { modelList, modelLoadRequest, modelLoadState, modelRecord } from '@ortler/schemas';
import { z } from 'zod';
import { findModel, listModels, servedId, withEngine } from '../generation/ready-engine.ts';
import { needsEngine, upstreamOf } from '../generation/upstream-of.ts';
import type { ServedModel, Services } from '../ports/services.ts';
import { ApiError } from '../trpc/errors.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { createBearerProcedure, router } from '../trpc/trpc.ts';

/** Router of the model list and of single models. */
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
      .query(async ({ ctx }) => {
        const models = await listModels(services, ctx.principal);
        return { object: 'list' as const, data: models.map(toModelRecord) };
      }),

    retrieve: createBearerProcedure(services)
      .meta({
        auth: 'bearer',
        errors: 'openai',
        fails: ['model_not_found'],
        openapi: {
          method: 'GET',
          path: '/v1/models/{model_id}',
          operationId: 'retrieveModel',
          tags: ['models'],
          requestHeaders,
          summary: 'Describe one model',
        },
      })
      .input(
        z.object({
          model_id: z
            .string()
            .min(1)
            .describe('Id from the model list. Slashes in it may stand as they are.'),
        }),
      )
      .output(modelRecord)
      .query(async ({ ctx, input }) =>
        toModelRecord(await findModel(services, ctx.principal, input.model_id)),
      ),

    load: createBearerProcedure(services)
      .meta({
        auth: 'bearer',
        errors: 'openai',
        fails: ['model_not_found', 'model_unavailable'],
        openapi: {
          method: 'POST',
          path: '/v1/models/load',
          operationId: 'loadModel',
          tags: ['models'],
          requestHeaders,
          summary: 'Load a checkpoint before the first request that needs it',
        },
      })
      .input(modelLoadRequest)
      .output(modelLoadState)
      .mutation(async ({ ctx, input }) => {
        const model = await findModel(services, ctx.principal, input.model);
        await withEngine(model, ctx.signal, async () => undefined);
        return { id: servedId(model), object: 'model.load' as const, state: 'ready' as const };
      }),

    unload: createBearerProcedure(services)
      .meta({
        auth: 'bearer',
        errors: 'openai',
        fails: ['model_not_found'],
        openapi: {
          method: 'POST',
          path: '/v1/models/unload',
          operationId: 'unloadModel',
          tags: ['models'],
          requestHeaders,
          summary: 'Take a checkpoint out of memory once its open requests have ended',
        },
      })
      .input(modelLoadRequest)
      .output(modelLoadState)
      .mutation(async ({ ctx, input }) => {
        const model = await findModel(services, ctx.principal, input.model);
        if (upstreamOf(model) !== undefined) throw needsEngine(model.id);
        const unload = 'unload' in model ? model.unload : undefined;
        if (unload === undefined)
          throw new ApiError(
            'invalid_parameter',
            `${servedId(model)} is a model of the configuration, which stays loaded while the server runs. Checkpoints can be unloaded.`,
            { param: 'model' },
          );
        unload();
        return { id: servedId(model), object: 'model.load' as const, state: 'unloading' as const };
      }),
  });
}

function toModelRecord(model: ServedModel) {
  return {
    id: model.id,
    object: 'model' as const,
    created: model.createdAtSeconds,
    owned_by: model.ownedBy,
    root: model.root,
    max_model_len: contextLengthOf(model),
  };
}

/** Null where nobody says it: while a model loads, and of checkpoints, which are loaded on demand. */
function contextLengthOf(model: ServedModel): number | null {
  const upstream = upstreamOf(model);
  if (upstream !== undefined) return upstream.contextLength;
  return 'status' in model && model.status.kind === 'ready' ? model.status.engine.info.contextLength : null;
}
