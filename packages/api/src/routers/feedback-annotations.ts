// POST /feedback/annotation_spec/create, /feedback/queue/create and /feedback/queue/delete: the specs and queues that
// annotations refer to. For internal services, which create them before annotators start.

import { createHash, randomUUID } from 'node:crypto';
import {
  annotationQueueDeletion,
  annotationQueueDeletionResult,
  annotationQueueRequest,
  annotationQueueResult,
  annotationSpecRequest,
  annotationSpecResult,
} from '@ortler/schemas';
import { rethrow } from '../feedback/check-annotation.ts';
import { checkText, toStorableText } from '../feedback/storable-json.ts';
import type { Services } from '../ports/services.ts';
import { requireProject, shareOf } from '../team.ts';
import { ApiError } from '../trpc/errors.ts';
import { reportFaults } from '../trpc/report-faults.ts';
import { createBasicProcedure, router } from '../trpc/trpc.ts';
import { feedbackRoute } from './feedback-route.ts';

export function createFeedbackAnnotationProcedures(services: Services) {
  const { specs, queues, schemas } = services.annotations;
  const procedure = createBasicProcedure(services).use(reportFaults);
  return router({
    createSpec: procedure
      .meta(
        feedbackRoute('/feedback/annotation_spec/create', 'createAnnotationSpec', 'Make an annotation spec'),
      )
      .input(annotationSpecRequest)
      .output(annotationSpecResult)
      .mutation(async ({ ctx, input: { project_id: projectId, name, field_schema } }) => {
        requireProject(ctx.principal, projectId);
        for (const [place, text] of Object.entries({ project_id: projectId, name })) checkText(text, place);
        checkProject(projectId);
        const fieldSchema = await toStorableText(field_schema as object, 'field_schema');
        await schemas.checkSchema(fieldSchema, shareOf(ctx.principal)).catch(rethrow);
        const digest = createHash('sha256').update(fieldSchema).digest('hex').slice(0, 32);
        await specs.save({ projectId, name, digest, fieldSchema });
        return { annotation_ref: `weave:///${projectId}/object/${name}:${digest}` };
      }),

    createQueue: procedure
      .meta(feedbackRoute('/feedback/queue/create', 'createAnnotationQueue', 'Open an annotation queue'))
      .input(annotationQueueRequest)
      .output(annotationQueueResult)
      .mutation(async ({ ctx, input: { project_id: projectId, id } }) => {
        requireProject(ctx.principal, projectId);
        const queueId = id ?? randomUUID();
        for (const [place, text] of Object.entries({ project_id: projectId, id: queueId }))
          checkText(text, place);
        await queues.open(projectId, queueId);
        return { id: queueId };
      }),

    deleteQueue: procedure
      .meta(feedbackRoute('/feedback/queue/delete', 'deleteAnnotationQueue', 'Delete an annotation queue'))
      .input(annotationQueueDeletion)
      .output(annotationQueueDeletionResult)
      .mutation(async ({ ctx, input }) => {
        requireProject(ctx.principal, input.project_id);
        for (const [place, text] of Object.entries(input)) checkText(text, place);
        await queues.delete(input.project_id, input.id);
        return {};
      }),
  });
}

/** Throws: `invalid_parameter` for a project id that cannot be part of a reference. */
function checkProject(projectId: string): void {
  if (/^[^/]+\/[^/]+$/.test(projectId)) return;
  throw new ApiError('invalid_parameter', 'project_id must be written <entity>/<project>', {
    param: 'project_id',
  });
}
