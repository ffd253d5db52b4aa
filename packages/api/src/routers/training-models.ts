// Procedures of models under training: create, read, delete.

import {
  trainingModel,
  trainingModelDeletion,
  trainingModelInput,
  trainingModelRequest,
} from '@ortler/schemas';
import type { Services } from '../ports/services.ts';
import { DEFAULT_NAMESPACE, homeEntity, requireEntity } from '../team.ts';
import { findModel } from '../training/find-model.ts';
import { toModelReference } from '../training/model-reference.ts';
import { toModelRecord } from '../training/to-wire.ts';
import { ApiError } from '../trpc/errors.ts';
import { reportFaults } from '../trpc/report-faults.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { createBearerProcedure, router } from '../trpc/trpc.ts';

const common = { auth: 'bearer', errors: 'detail' } as const;
const tags = ['training models'];
const GENERATED_NAME_LENGTH = 8;

export function createTrainingModelProcedures(services: Services) {
  const procedure = createBearerProcedure(services).use(reportFaults);
  return router({
    create: procedure
      .meta({
        ...common,
        fails: ['conflict', 'forbidden'],
        openapi: {
          method: 'POST',
          path: '/v1/preview/models',
          operationId: 'createTrainingModel',
          tags,
          requestHeaders,
          summary: 'Create a model to train',
        },
      })
      .input(trainingModelRequest)
      .output(trainingModel)
      .mutation(async ({ ctx, input }) => {
        const wanted = {
          entity: input.entity ?? homeEntity(ctx.principal),
          project: input.project ?? DEFAULT_NAMESPACE,
          name: input.name ?? `model-${crypto.randomUUID().slice(0, GENERATED_NAME_LENGTH)}`,
          baseModel: input.base_model,
        };
        requireEntity(ctx.principal, wanted.entity);
        const { model, isNew } = await services.training.models.create(wanted);
        if (!isNew && !input.return_existing)
          throw new ApiError(
            'conflict',
            `The model ${toModelReference(model)} exists. With return_existing it is given instead.`,
          );
        return toModelRecord(model);
      }),

    get: procedure
      .meta({
        ...common,
        fails: ['not_found'],
        openapi: {
          method: 'GET',
          path: '/v1/preview/models/{model_id}',
          operationId: 'getTrainingModel',
          tags,
          requestHeaders,
          summary: 'Read a model under training',
        },
      })
      .input(trainingModelInput)
      .output(trainingModel)
      .query(async ({ ctx, input }) =>
        toModelRecord(await findModel(services, ctx.principal, input.model_id)),
      ),

    delete: procedure
      .meta({
        ...common,
        fails: ['not_found'],
        openapi: {
          method: 'DELETE',
          path: '/v1/preview/models/{model_id}',
          operationId: 'deleteTrainingModel',
          tags,
          requestHeaders,
          summary: 'Delete a model with its trajectories and checkpoints',
          description: 'Weights stay on disk.',
        },
      })
      .input(trainingModelInput)
      .output(trainingModelDeletion)
      .mutation(async ({ ctx, input }) => {
        const { id } = await findModel(services, ctx.principal, input.model_id);
        await services.training.models.delete(id);
        return { object: 'training_model.deleted' as const, id, deleted: true as const };
      }),
  });
}
