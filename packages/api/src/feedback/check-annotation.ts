// Validates an annotation against stored data: its spec must exist, its value must match the spec's JSON Schema, and its
// queue must be open. Runs on the record, after `checkFeedbackType`, which validates the request alone.

import { parseNatively } from '@ortler/json';
import { ConstraintError } from '@ortler/structured-output';
import type { AnnotationServices } from '../ports/annotation-services.ts';
import type { FeedbackRecord } from '../ports/feedback-services.ts';
import { ApiError } from '../trpc/errors.ts';
import { parseWeaveRef } from './weave-ref.ts';

/**
 * @param share Whose annotation it is: shares take turns where values are checked.
 * Throws: `invalid_parameter` with the violated rule.
 */
export async function checkAnnotation(
  record: FeedbackRecord,
  services: AnnotationServices,
  share: string,
): Promise<void> {
  const { annotation_ref: annotationRef, queue_id: queueId, project_id: projectId } = record;
  if (annotationRef !== null) await checkValue(record, annotationRef, services, share);
  if (queueId !== null && !(await services.queues.isOpen(projectId, queueId)))
    throw refusal('queue_id', `There is no open queue ${queueId} in the project ${projectId}`);
}

async function checkValue(
  { payload_dump: payload }: FeedbackRecord,
  annotationRef: string,
  { specs, schemas }: AnnotationServices,
  share: string,
): Promise<void> {
  const ref = parseWeaveRef(annotationRef);
  const spec = ref === null || ref.kind === 'call' ? null : await specs.find(ref);
  if (spec === null) throw refusal('annotation_ref', `There is no annotation spec ${annotationRef}`);
  const violation = await schemas
    .findViolation(spec.fieldSchema, JSON.stringify(annotatedValue(payload)), share)
    .catch(rethrow);
  if (violation !== null)
    throw refusal(
      'payload',
      `The \`value\` does not match annotation spec ${annotationRef}: it breaks ${violation.keyword} (at ${violation.place})`,
    );
}

/** Numbers are doubles, as they are stored. */
function annotatedValue(payload: string): unknown {
  return (parseNatively(payload) as { readonly value: unknown }).value;
}

/** A validation that takes too long is an error of the caller. */
export function rethrow(error: unknown): never {
  if (!(error instanceof ConstraintError)) throw error;
  const { code, message, retryAfterMs } = error;
  if (code === 'invalid_constraint') throw new ApiError('invalid_parameter', message, { cause: error });
  if (code !== 'overloaded') throw error;
  const problem = 'Too many annotations wait to be checked; try again later.';
  throw new ApiError('overloaded', problem, { cause: error, retryAfterMs });
}

function refusal(param: string, message: string): ApiError {
  return new ApiError('invalid_parameter', message, { param });
}
