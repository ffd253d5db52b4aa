// POST /feedback/annotation_spec/create, /feedback/queue/create and /feedback/queue/delete: specs and queues that
// annotations are validated against. Extensions: the original API stores both as generic objects.

import { z } from 'zod';
import { fitsIntoBytes } from './storable-text.ts';

/** Longest id of a project whose data is stored. Unit: bytes in UTF-8. */
export const MAX_PROJECT_ID_BYTES = 512;

const projectId = z.string().describe('Project, written `<entity>/<project>`.');
const storedProjectId = z
  .string()
  .min(1)
  .refine(
    text => fitsIntoBytes(text, MAX_PROJECT_ID_BYTES),
    `Value error, project_id must have at most ${MAX_PROJECT_ID_BYTES} bytes in UTF-8`,
  )
  .describe('Project, written `<entity>/<project>`, of at most 512 bytes.')
  .meta({ maxLength: MAX_PROJECT_ID_BYTES });

/** An annotation spec: name and JSON Schema of the value that annotators enter. */
export const annotationSpecRequest = z.object({
  project_id: storedProjectId,
  name: z
    .string()
    .regex(/^[^/:]{1,128}$/, 'Input should have 1 to 128 characters, none of them a slash or a colon')
    .describe('Name; feedback under the spec has the type `wandb.annotation.<name>`.'),
  field_schema: z
    .unknown()
    .refine(value => typeof value === 'object' && value !== null && !Array.isArray(value), {
      error: 'Input should be a valid dictionary',
      params: { type: 'dict_type' },
    })
    .describe('JSON Schema of the `value` of an annotation.')
    .meta({ type: 'object', additionalProperties: true }),
});
export type AnnotationSpecRequest = z.output<typeof annotationSpecRequest>;

const specExample = { annotation_ref: 'weave:///acme/app/object/quality:9f86d081884c7d65' };

/** The reference of the spec; equal specs have equal references. */
export const annotationSpecResult = z
  .object({
    annotation_ref: z.string().describe('Reference of the spec, for `annotation_ref` of annotations.'),
  })
  .meta({ examples: [specExample] });

/** A queue of items to annotate. */
export const annotationQueueRequest = z.object({
  project_id: storedProjectId,
  id: z.string().min(1).max(256).nullish().describe('Id chosen by the client. Default: a generated one.'),
});

const queueExample = { id: 'q1' };

/** The queue. */
export const annotationQueueResult = z
  .object({ id: z.string().describe('Id of the queue.') })
  .meta({ examples: [queueExample] });

/** Deletion of a queue, which then accepts no more feedback. */
export const annotationQueueDeletion = z.object({
  project_id: projectId,
  id: z.string().describe('Id of the queue.'),
});

/** Empty: deleting an unknown queue is not an error. */
export const annotationQueueDeletionResult = z.object({});

const spec = { project_id: 'acme/app', name: 'quality', field_schema: { type: 'integer', maximum: 10 } };

export const annotationSpecRequestExamples = {
  valid: [spec],
  invalid: [
    { input: { ...spec, name: undefined }, type: 'missing', loc: ['name'] },
    { input: { ...spec, field_schema: [] }, type: 'dict_type', loc: ['field_schema'] },
  ],
} as const;

export const annotationSpecResultExamples = {
  valid: [specExample],
  invalid: [{ input: {}, type: 'missing', loc: ['annotation_ref'] }],
} as const;

export const annotationQueueRequestExamples = {
  valid: [{ project_id: 'acme/app' }, { project_id: 'acme/app', id: 'q1' }],
  invalid: [{ input: {}, type: 'missing', loc: ['project_id'] }],
} as const;

export const annotationQueueResultExamples = {
  valid: [queueExample],
  invalid: [{ input: {}, type: 'missing', loc: ['id'] }],
} as const;

export const annotationQueueDeletionExamples = {
  valid: [{ project_id: 'acme/app', id: 'q1' }],
  invalid: [{ input: { project_id: 'acme/app' }, type: 'missing', loc: ['id'] }],
} as const;
