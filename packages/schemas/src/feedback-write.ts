// POST /feedback/create, /feedback/batch/create, /feedback/replace and /feedback/purge: shapes only. The api checks the
// rules of each feedback type.

import { z } from 'zod';
import { boundedRecord, jsonObject, MAX_NAMED_VALUES } from './bounded-collections.ts';
import { MAX_PROJECT_ID_BYTES } from './feedback-annotation.ts';
import { type FeedbackFilter, unparsedFilter } from './feedback-filter.ts';
import { laxNumber } from './lax-primitives.ts';

const texts = boundedRecord(z.string(), MAX_NAMED_VALUES);
const numbers = boundedRecord(laxNumber(), MAX_NAMED_VALUES);

/** Maximum number of items of one batch. */
export const MAX_FEEDBACK_BATCH = 1_000;

/** Longest id of feedback. Unit: UTF-16 code units, like all lengths. */
export const MAX_FEEDBACK_ID_LENGTH = 256;
/** Longest of the other short texts: references, names. */
export const MAX_FEEDBACK_TEXT_LENGTH = 4_096;
/**
 * Longest text of each column that has an index. Unit: bytes in UTF-8. An entry of an index of PostgreSQL takes 2,704 bytes; the
 * longest has a project, an id and one more text.
 */
export const MAX_INDEXED_BYTES = {
  project_id: MAX_PROJECT_ID_BYTES,
  weave_ref: 1_024,
  feedback_type: 1_024,
  trigger_ref: 1_024,
} as const;

// Documented here and checked by the api, whose refusals the original service words.
const text = (limits: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  z.string().meta({ maxLength: MAX_FEEDBACK_TEXT_LENGTH, ...limits });
const indexedText = (name: keyof typeof MAX_INDEXED_BYTES, limits: { readonly minLength?: number } = {}) =>
  text({ maxLength: MAX_INDEXED_BYTES[name], ...limits });

/** One piece of feedback to store. */
export const feedbackCreateRequest = z.object({
  project_id: indexedText('project_id', { minLength: 1 }).describe(
    'Project, written `<entity>/<project>`, of at most 512 bytes.',
  ),
  weave_ref: indexedText('weave_ref', { minLength: 1 }).describe(
    'Reference of the subject, such as `weave:///acme/app/call/<id>`, of at most 1,024 bytes.',
  ),
  feedback_type: indexedText('feedback_type', { minLength: 1 }).describe(
    'Type of feedback, such as `wandb.note.1` or a custom name, of at most 1,024 bytes.',
  ),
  payload: jsonObject().describe(
    'The feedback itself, a JSON object of at most 1 MiB. Integers keep their digits within 64 bits; other numbers are doubles.',
  ),
  id: text({ minLength: 1, maxLength: MAX_FEEDBACK_ID_LENGTH })
    .nullish()
    .describe('Id chosen by the client, which makes the call idempotent. Default: a generated one.'),
  wb_user_id: z.string().optional().describe('Ignored: the server fills it with the id of the API key.'),
  creator: text().nullish().describe('Display name of the person who gave the feedback.'),
  annotation_ref: text().nullish().describe('Annotation spec, for `wandb.annotation.<name>`.'),
  runnable_ref: text().nullish().describe('Scorer or other runnable, for `wandb.runnable.<name>`.'),
  call_ref: text().nullish().describe('Call of the scorer that produced the feedback.'),
  trigger_ref: indexedText('trigger_ref')
    .nullish()
    .describe('Trigger that started the scorer, of at most 1,024 bytes.'),
  queue_id: text().nullish().describe('Id of the annotation queue.'),
  scorer_tags: z.array(z.string()).nullish().describe('Tags given by the scorer.'),
  scorer_tag_reasons: texts.nullish().describe('Reason for each tag, by tag.'),
  scorer_tag_confidences: numbers.nullish().describe('Confidence in each tag, by tag.'),
  scorer_ratings: numbers.nullish().describe('Ratings given by the scorer, by name.'),
  scorer_rating_reasons: texts.nullish().describe('Reason for each rating, by name.'),
  scorer_rating_confidences: numbers.nullish().describe('Confidence in each rating, by name.'),
  span_agent_name: text().nullish().describe('Name of the agent of the span.'),
  span_agent_version: text().nullish().describe('Version of the agent of the span.'),
  span_status_code: z.enum(['UNSET', 'OK', 'ERROR']).nullish().describe('Status code of the span.'),
  span_conversation_id: text().nullish().describe('Id of the conversation of the span.'),
  span_trace_id: text().nullish().describe('Id of the trace of the span.'),
  scorer_trace_id: text().nullish().describe('Id of the trace of the scorer.'),
});
export type FeedbackCreateRequest = z.output<typeof feedbackCreateRequest>;

const createResultExample = {
  id: '01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e',
  created_at: '2026-01-01T12:00:00.123000Z',
  wb_user_id: 'configuration',
  payload: { note: 'Great answer' },
};

/** The stored feedback. */
export const feedbackCreateResult = z
  .object({
    id: z.string().describe('Id of the feedback.'),
    created_at: z.string().describe('Time of storage.').meta({ format: 'date-time' }),
    wb_user_id: z.string().describe('Id of the API key that stored it.'),
    payload: jsonObject().describe('The payload as stored, including added keys.'),
  })
  .meta({ examples: [createResultExample] });
export type FeedbackCreateResult = z.output<typeof feedbackCreateResult>;

/** A batch of feedback, stored atomically. */
export const feedbackBatchCreateRequest = z.object({
  batch: z.array(feedbackCreateRequest).max(MAX_FEEDBACK_BATCH).describe('The feedback of the batch.'),
});
export type FeedbackBatchCreateRequest = z.output<typeof feedbackBatchCreateRequest>;

/** The stored feedback, in the order of the batch. */
export const feedbackBatchCreateResult = z
  .object({ res: z.array(feedbackCreateResult).describe('One result per item of the batch.') })
  .meta({ examples: [{ res: [createResultExample] }] });
export type FeedbackBatchCreateResult = z.output<typeof feedbackBatchCreateResult>;

/** Feedback that replaces another one. */
export const feedbackReplaceRequest = z.object({
  ...feedbackCreateRequest.shape,
  feedback_id: z.string().describe('Id of the feedback to replace.'),
});
export type FeedbackReplaceRequest = z.output<typeof feedbackReplaceRequest>;

/** Ids of the feedback to remove. */
export const feedbackPurgeRequest = z.object({
  project_id: z.string().describe('Project, written `<entity>/<project>`.'),
  query: unparsedFilter<FeedbackFilter>().describe(
    'Filter by ids: `{"$expr": {"$eq": [{"$getField": "id"}, {"$literal": "<id>"}]}}`, or an `$or` of these.',
  ),
});
export type FeedbackPurgeRequest = z.output<typeof feedbackPurgeRequest>;

/** Empty: unknown ids are not an error. */
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
    { input: { ...note, wb_user_id: null }, type: 'string_type', loc: ['wb_user_id'] },
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
