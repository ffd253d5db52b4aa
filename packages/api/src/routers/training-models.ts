// Procedures of models under training: create, list, read, delete.

import {
  isStorableText,
  trainingModel,
  trainingModelDeletion,
  trainingModelInput,
  trainingModelList,
  trainingModelListQuery,
  trainingModelRequest,
} from '@ortler/schemas';
import type { Principal, Services } from '../ports/services.ts';
import type { TrainingModelListOptions, TrainingModelName } from '../ports/training-services.ts';
import { DEFAULT_NAMESPACE, homeEntity, mayReach, requireEntity } from '../team.ts';
import { findModel } from '../training/find-model.ts';
import { toModelReference } from '../training/model-reference.ts';
import { toModelRecord } from '../training/to-wire.ts';
import { ApiError } from '../trpc/errors.ts';
import { reportFaults, wrongValue } from '../trpc/report-faults.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { createBearerProcedure, router } from '../trpc/trpc.ts';

const common = { auth: 'bearer', errors: 'detail' } as const;
const tags = ['training models'];
const GENERATED_NAME_LENGTH = 8;

export function createTrainingModelProcedures(services: Services) {
  const procedure = createBearerProcedure(services).use(reportFaults);

  /** Throws: `conflict` for a new model whose id would be that of a model of the operator, which chats would reach in its place. */
  async function requireFreeId(wanted: TrainingModelName): Promise<void> {
    const id = toModelReference(wanted);
    if (
      services.models.find(id) === undefined ||
      (await services.training.models.findByName(wanted)) !== null
    )
      return;
    throw new ApiError(
      'conflict',
      `This server serves a model with the id ${id}; choose another name or project.`,
    );
  }

  async function listPage(caller: Principal, options: TrainingModelListOptions) {
    const { entity, after } = options;
    // Other teams have no models, as far as the caller can tell. No model has an id that cannot be stored, and some
    // databases refuse the query.
    const isEmpty = entity !== null && !mayReach(caller, entity);
    if (isEmpty && after === null) return { models: [], hasMore: false };
    return isEmpty || (after !== null && !isStorableText(after))
      ? null
      : services.training.models.list(options);
  }

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
        await requireFreeId(wanted);
        const { model, isNew } = await services.training.models.create(wanted);
        if (!isNew && !input.return_existing)
          throw new ApiError(
            'conflict',
            `The model ${toModelReference(model)} exists. With return_existing it is given instead.`,
          );
        return toModelRecord(model);
      }),

    list: procedure
      .meta({
        ...common,
        openapi: {
          method: 'GET',
          path: '/v1/preview/models',
          operationId: 'listTrainingModels',
          tags,
          requestHeaders,
          summary: 'List the models under training',
        },
      })
      .input(trainingModelListQuery)
      .output(trainingModelList)
      .query(async ({ ctx, input }) => {
        const { entity = ctx.principal.team ?? null, project = null, after = null, limit, order } = input;
        const page = await listPage(ctx.principal, { entity, project, after, limit, order });
        // The same error for an unknown id and one of another team.
        if (page === null)
          throw wrongValue(['query', 'after'], 'after is not the id of a model of this list');
        const data = page.models.map(toModelRecord);
        return {
          object: 'list' as const,
          data,
          has_more: page.hasMore,
          first_id: data[0]?.id ?? '',
          last_id: data.at(-1)?.id ?? '',
        };
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
