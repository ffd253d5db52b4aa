import { expect, it, vi } from 'vitest';
import type { FeedbackRecord } from '../ports/feedback-services.ts';
import { createFakeAnnotationServices } from '../testing/fake-annotation-services.ts';
import { checkAnnotation } from './check-annotation.ts';

it('checks the value in the turn of its share', async () => {
  const services = createFakeAnnotationServices();
  await services.specs.save({ projectId: 'acme/p', name: 'score', digest: 'd', fieldSchema: '{}' });
  const findViolation = vi.spyOn(services.schemas, 'findViolation');
  const record = {
    annotation_ref: 'weave:///acme/p/object/score:d',
    payload_dump: '{"value":1}',
    queue_id: null,
    project_id: 'acme/p',
  } as FeedbackRecord;
  await checkAnnotation(record, services, 'team acme');
  expect(findViolation).toHaveBeenCalledWith('{}', '1', 'team acme');
});
