import { ConstraintError } from '@ortler/structured-output';
import { expect, it, vi } from 'vitest';
import type { FeedbackRecord } from '../ports/feedback-services.ts';
import { createFakeAnnotationServices } from '../testing/fake-annotation-services.ts';
import { checkAnnotation } from './check-annotation.ts';

const RECORD = {
  annotation_ref: 'weave:///acme/p/object/score:d',
  payload_dump: '{"value":1}',
  queue_id: null,
  project_id: 'acme/p',
} as FeedbackRecord;

async function createServices() {
  const services = createFakeAnnotationServices();
  await services.specs.save({ projectId: 'acme/p', name: 'score', digest: 'd', fieldSchema: '{}' });
  return services;
}

it('checks the value in the turn of its share', async () => {
  const services = await createServices();
  const findViolation = vi.spyOn(services.schemas, 'findViolation');
  await checkAnnotation(RECORD, services, 'team acme');
  expect(findViolation).toHaveBeenCalledWith('{}', '1', 'team acme');
});

it('asks the caller to try again while too many checks wait', async () => {
  const services = await createServices();
  const full = new ConstraintError('overloaded', 'full', { retryAfterMs: 1_000 });
  vi.spyOn(services.schemas, 'findViolation').mockRejectedValue(full);
  await expect(checkAnnotation(RECORD, services, 'team acme')).rejects.toMatchObject({
    reason: 'overloaded',
    message: 'Too many annotations wait to be checked; try again later.',
    retryAfterMs: 1_000,
  });
});
