// Validates an annotation against stored data: its spec must exist, its value must match the spec's JSON Schema, and its
// queue must be open. Runs after `checkFeedbackType`, which validates the request alone.

import type { FeedbackCreateRequest } from '@ortler/schemas';
import { ConstraintError } from '@ortler/structured-output';
import type { AnnotationServices } from '../ports/annotation-services.ts';
import { ApiError } from '../trpc/errors.ts';
import { parseWeaveRef } from './weave-ref.ts';

/** Throws: `invalid_parameter` with the violated rule. */
export async function checkAnnotation(
  request: FeedbackCreateRequest,
  services: AnnotationServices,
): Promise<void> {
  if (request.annotation_ref != null) await checkValue(request, request.annotation_ref, services);
  const { queue_id: queueId, project_id: projectId } = request;
  if (queueId != null && !(await services.queues.isOpen(projectId, queueId)))
    throw refusal('queue_id', `There is no open queue ${queueId} in the project ${projectId}`);
}

async function checkValue(
  { payload }: FeedbackCreateRequest,
  annotationRef: string,
  { specs, schemas }: AnnotationServices,
): Promise<void> {
  const ref = parseWeaveRef(annotationRef);
  const spec = ref === null || ref.kind === 'call' ? null : await specs.find(ref);
  if (spec === null) throw refusal('annotation_ref', `There is no annotation spec ${annotationRef}`);
  const violation = await schemas
    .findViolation(spec.fieldSchema, JSON.stringify(payload.value, bigintsAsNumbers))
    .catch(rethrow);
  if (violation !== null)
    throw refusal(
      'payload',
      `The \`value\` does not match annotation spec ${annotationRef}: it breaks ${violation.keyword} (at ${violation.place})`,
    );
}

/** Payloads are stored with numbers as doubles, so the doubles are validated. */
function bigintsAsNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** A validation that takes too long is an error of the caller. */
export function rethrow(error: unknown): never {
  if (error instanceof ConstraintError && error.code === 'invalid_constraint')
    throw new ApiError('invalid_parameter', error.message, { cause: error });
  throw error;
}

function refusal(param: string, message: string): ApiError {
  return new ApiError('invalid_parameter', message, { param });
}
