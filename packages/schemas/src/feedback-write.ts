// POST /feedback/create, /feedback/batch/create, /feedback/replace and /feedback/purge: shapes only. What a type of
// feedback demands of its fields is checked by the api.

import { z } from 'zod';
import { boundedRecord, jsonObject, MAX_NAMED_VALUES } from './bounded-collections.ts';
import { laxNumber } from './lax-primitives.ts';

const texts = boundedRecord(z.string(), MAX_NAMED_VALUES);
const numbers = boundedRecord(laxNumber(), MAX_NAMED_VALUES);

/** Most items of one batch. */
export const MAX_FEEDBACK_BATCH = 1_000;

/** One piece of feedback to store. */
export const feedbackCreateRequest = z.object({
  project_id: z.string().describe('Project, written `<entity>/<project>`.'),
  weave_ref: z.string().describe('What the feedback is about, such as `weave:///acme/app/call/<id>`.'),
  feedback_type: z.string().describe('Kind of feedback, such as `wandb.note.1` or one of your own.'),
  payload: jsonObject().describe('The feedback itself, a JSON object of at most 1 MiB.'),
  id: z
    .string()
    .nullish()
    .describe('Id of your own. Sending the same feedback again under it stores nothing twice.'),
  creator: z.string().nullish().describe('Name to show for who gave the feedback.'),
  annotation_ref: z.string().nullish().describe('Annotation spec, for `wandb.annotation.<name>`.'),
  runnable_ref: z.string().nullish().describe('What judged, for `wandb.runnable.<name>`.'),
  call_ref: z.string().nullish().describe('The call that judged.'),
  trigger_ref: z.string().nullish().describe('What made the judge run.'),
  queue_id: z.string().nullish().describe('Annotation queue.'),
  scorer_tags: z.array(z.string()).nullish().describe('Tags that a scorer gave.'),
  scorer_tag_reasons: texts.nullish().describe('Reasons by tag.'),
  scorer_tag_confidences: numbers.nullish().describe('Confidences by tag.'),
  scorer_ratings: numbers.nullish().describe('Ratings by name.'),
  scorer_rating_reasons: texts.nullish().describe('Reasons by rating.'),
  scorer_rating_confidences: numbers.nullish().describe('Confidences by rating.'),
  span_agent_name: z.string().nullish().describe('Agent of the span.'),
  span_agent_version: z.string().nullish().describe('Version of that agent.'),
  span_status_code: z.enum(['UNSET', 'OK', 'ERROR']).nullish().describe('Status of the span.'),
  span_conversation_id: z.string().nullish().describe('Conversation of the span.'),
  span_trace_id: z.string().nullish().describe('Trace of the span.'),
  scorer_trace_id: z.string().nullish().describe('Trace of the scorer.'),
});
export type FeedbackCreateRequest = z.output<typeof feedbackCreateRequest>;

const createResultExample = {
  id: '01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e',
  created_at: '2026-01-01T12:00:00.123000Z',
  wb_user_id: 'configuration',
  payload: { note: 'Great answer' },
};

/** What was stored. */
export const feedbackCreateResult = z
  .object({
    id: z.string().describe('Its id.'),
    created_at: z.string().describe('When it was stored.').meta({ format: 'date-time' }),
    wb_user_id: z.string().describe('Id of the key it was stored with.'),
    payload: jsonObject().describe('The payload as stored, with what was added to it.'),
  })
  .meta({ examples: [createResultExample] });
export type FeedbackCreateResult = z.output<typeof feedbackCreateResult>;

/** Several pieces of feedback: all are stored or none. */
export const feedbackBatchCreateRequest = z.object({
  batch: z.array(feedbackCreateRequest).max(MAX_FEEDBACK_BATCH).describe('The pieces.'),
});
export type FeedbackBatchCreateRequest = z.output<typeof feedbackBatchCreateRequest>;

/** What was stored, in the order of the batch. */
export const feedbackBatchCreateResult = z
  .object({ res: z.array(feedbackCreateResult).describe('One answer for each piece.') })
  .meta({ examples: [{ res: [createResultExample] }] });
export type FeedbackBatchCreateResult = z.output<typeof feedbackBatchCreateResult>;

/** Feedback that takes the place of another one. */
export const feedbackReplaceRequest = z.object({
  ...feedbackCreateRequest.shape,
  feedback_id: z.string().describe('Id of the feedback to remove.'),
});
export type FeedbackReplaceRequest = z.output<typeof feedbackReplaceRequest>;

/** Which feedback to remove. */
export const feedbackPurgeRequest = z.object({
  project_id: z.string().describe('Project, written `<entity>/<project>`.'),
  query: z
    .unknown()
    .describe(
      'Ids only: `{"$expr": {"$eq": [{"$getField": "id"}, {"$literal": "<id>"}]}}`, or an `$or` of such.',
    )
    .meta({ type: 'object' }),
});
export type FeedbackPurgeRequest = z.output<typeof feedbackPurgeRequest>;

/** Empty: ids that were not there are no error. */
export const feedbackPurgeResult = z.object({});

const note = {
  project_id: 'acme/app',
  weave_ref: 'weave:///acme/app/call/0199',
  feedback_type: 'wandb.note.1',
  payload: { note: 'Great answer' },
};
const byId = { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'f01' }] } };

export const feedbackCreateRequestExamples = {
  valid: [note, { ...note, id: 'f01', creator: null, scorer_tags: null, scorer_ratings: { quality: '0.5' } }],
  invalid: [
    { input: { ...note, payload: undefined }, type: 'missing', loc: ['payload'] },
    { input: { ...note, payload: [] }, type: 'dict_type', loc: ['payload'] },
    { input: { ...note, scorer_tags: 'x' }, type: 'list_type', loc: ['scorer_tags'] },
    { input: { ...note, span_status_code: 'ok' }, type: 'literal_error', loc: ['span_status_code'] },
  ],
} as const;

export const feedbackCreateResultExamples = {
  valid: [createResultExample],
  invalid: [{ input: {}, type: 'missing', loc: ['id'] }],
} as const;

export const feedbackBatchCreateRequestExamples = {
  valid: [{ batch: [note, note] }, { batch: [] }],
  invalid: [{ input: { batch: [{}] }, type: 'missing', loc: ['batch', '0', 'project_id'] }],
} as const;

export const feedbackReplaceRequestExamples = {
  valid: [{ ...note, feedback_id: 'f01' }],
  invalid: [{ input: note, type: 'missing', loc: ['feedback_id'] }],
} as const;

export const feedbackPurgeRequestExamples = {
  valid: [{ project_id: 'acme/app', query: byId }],
  invalid: [{ input: { query: byId }, type: 'missing', loc: ['project_id'] }],
} as const;
