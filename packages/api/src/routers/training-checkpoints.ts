// Procedures of checkpoints: list and delete (published endpoints), register, read one, merge metrics.

import {
  checkpointDeletion,
  checkpointDeletionInput,
  checkpointInput,
  checkpointList,
  checkpointListInput,
  checkpointMetricsInput,
  checkpointRecord,
  checkpointRegistrationInput,
  isStorableText,
} from '@ortler/schemas';
import type { Principal, Services } from '../ports/services.ts';
import type { CheckpointWeights } from '../ports/training-services.ts';
import { findModel, unknownModel } from '../training/find-model.ts';
import { toCheckpoint, toCheckpointRecord } from '../training/to-wire.ts';
import { ApiError } from '../trpc/errors.ts';
import { reportFaults, wrongValue } from '../trpc/report-faults.ts';
import { requestHeaders } from '../trpc/request-headers.ts';
import { createBearerProcedure, router } from '../trpc/trpc.ts';

const tags = ['checkpoints'];
const common = { auth: 'bearer', errors: 'detail', fails: ['not_found'] } as const;
const LIST_PATH = '/v1/preview/models/{model_id}/checkpoints';
const ITEM_PATH = '/v1/preview/models/{model_id}/checkpoints/{checkpoint_id}';

export function createCheckpointProcedures(services: Services) {
  const { checkpoints, weights } = services.training;
  const procedure = createBearerProcedure(services).use(reportFaults);

  /** Throws: `invalid_input`. */
  async function inspectWeights(
    given: { readonly path: string; readonly kind?: 'full' | 'lora' | null | undefined } | null | undefined,
    { team }: Principal,
  ): Promise<CheckpointWeights | null> {
    if (given == null) return null;
    const found = await weights.inspect(given.path, team ?? null);
    if ('problem' in found) throw wrongValue(['body', 'weights', 'path'], found.problem);
    if (given.kind != null && given.kind !== found.kind)
      throw wrongValue(['body', 'weights', 'kind'], `the folder holds weights of kind ${found.kind}`);
    return found;
  }

  return router({
    list: procedure
      .meta({
        ...common,
        openapi: {
          method: 'GET',
          path: LIST_PATH,
          operationId: 'listCheckpoints',
          tags,
          requestHeaders,
          summary: 'List the checkpoints of a model by step',
        },
      })
      .input(checkpointListInput)
      .output(checkpointList)
      .query(async ({ ctx, input }) => {
        const { id } = await findModel(services, ctx.principal, input.model_id);
        const { limit, order, after = null } = input;
        // No checkpoint has an id that cannot be stored, and some databases refuse the query.
        const isPossible = after === null || isStorableText(after);
        const page = isPossible ? await checkpoints.list(id, { limit, order, after }) : null;
        // The same error for an unknown id and one of another model.
        if (page === null)
          throw wrongValue(['query', 'after'], 'after is not the id of a checkpoint of this model');
        const data = page.checkpoints.map(toCheckpoint);
        return {
          object: 'list',
          data,
          has_more: page.hasMore,
          first_id: data[0]?.id ?? '',
          last_id: data.at(-1)?.id ?? '',
        };
      }),

    register: procedure
      .meta({
        ...common,
        fails: ['not_found', 'conflict'],
        openapi: {
          method: 'POST',
          path: LIST_PATH,
          operationId: 'registerCheckpoint',
          tags,
          requestHeaders,
          summary: 'Register a checkpoint of a trainer',
        },
      })
      .input(checkpointRegistrationInput)
      .output(checkpointRecord)
      .mutation(async ({ ctx, input }) => {
        const model = await findModel(services, ctx.principal, input.model_id);
        const registered = await checkpoints.register(model.id, {
          id: input.id ?? null,
          step: input.step ?? null,
          metrics: input.metrics,
          weights: await inspectWeights(input.weights, ctx.principal),
        });
        if (registered === 'unknown-model') throw unknownModel(input.model_id);
        if (registered === 'taken')
          throw new ApiError('conflict', 'There is a checkpoint with this step or this id.');
        if ('limit' in registered) {
          const { limit, of } = registered;
          const message = `The ${of} has ${limit} checkpoints, the maximum on this server. Delete some first.`;
          throw new ApiError('conflict', message);
        }
        return toCheckpointRecord(model, registered);
      }),

    get: procedure
      .meta({
        ...common,
        openapi: {
          method: 'GET',
          path: ITEM_PATH,
          operationId: 'getCheckpoint',
          tags,
          requestHeaders,
          summary: 'Read one checkpoint',
        },
      })
      .input(checkpointInput)
      .output(checkpointRecord)
      .query(async ({ ctx, input }) => {
        const model = await findModel(services, ctx.principal, input.model_id);
        const { checkpoint_id: id } = input;
        const found = isStorableText(id) ? await checkpoints.find(model.id, id) : null;
        if (found === null) throw unknownCheckpoint();
        return toCheckpointRecord(model, found);
      }),

    mergeMetrics: procedure
      .meta({
        ...common,
        openapi: {
          method: 'PATCH',
          path: ITEM_PATH,
          operationId: 'updateCheckpointMetrics',
          tags,
          requestHeaders,
          summary: 'Add or replace metrics of a checkpoint',
        },
      })
      .input(checkpointMetricsInput)
      .output(checkpointRecord)
      .mutation(async ({ ctx, input }) => {
        const model = await findModel(services, ctx.principal, input.model_id);
        const { checkpoint_id: id, metrics } = input;
        const merged = isStorableText(id) ? await checkpoints.mergeMetrics(model.id, id, metrics) : null;
        if (merged === null) throw unknownCheckpoint();
        return toCheckpointRecord(model, merged);
      }),

    deleteSteps: procedure
      .meta({
        ...common,
        openapi: {
          method: 'DELETE',
          path: LIST_PATH,
          operationId: 'deleteCheckpoints',
          tags,
          requestHeaders,
          summary: 'Delete the checkpoints of the given steps',
          description: 'Steps without a checkpoint are reported but are not an error. Weights stay on disk.',
        },
      })
      .input(checkpointDeletionInput)
      .output(checkpointDeletion)
      .mutation(async ({ ctx, input }) => {
        const { id } = await findModel(services, ctx.principal, input.model_id);
        const deleted = new Set(await checkpoints.deleteSteps(id, [...new Set(input.steps)]));
        return {
          deleted_count: deleted.size,
          not_found_steps: input.steps.filter(step => !deleted.has(step)),
        };
      }),
  });
}

function unknownCheckpoint(): ApiError {
  return new ApiError('not_found', 'There is no such checkpoint of this model.');
}
