// POST /feedback/query and POST /feedback/payload_schema. The filter expression is not parsed here: @ortler/feedback-query
// has its parser and its errors.

import { z } from 'zod';
import { type FeedbackFilter, unparsedFilter } from './feedback-filter.ts';
import { laxBoolean, laxDateTime, laxInteger } from './lax-primitives.ts';

/** One sort key. */
export const feedbackSortKey = z.object({
  field: z.string().describe('A column, or a path such as `payload.score`.'),
  direction: z.enum(['asc', 'desc']).default('asc').describe('Sort direction.'),
});
export type FeedbackSortKey = z.output<typeof feedbackSortKey>;

/** Body of a feedback query. */
export const feedbackQueryRequest = z.object({
  project_id: z.string().describe('Project, written `<entity>/<project>`.'),
  fields: z
    .array(z.string())
    .nullish()
    .describe('Columns and `payload.<key>` paths to return. Default: all columns.'),
  query: unparsedFilter<FeedbackFilter | null | undefined>()
    .optional()
    .describe(
      'Filter: an object with the single key `$expr`, which holds an expression. Default: no filter.',
    ),
  sort_by: z
    .array(feedbackSortKey)
    .nullish()
    .describe('Sort keys, the most significant first. Default: time of creation.'),
  limit: laxInteger({ minimum: 0 })
    .meta({ maximum: 10_000 })
    .nullish()
    .describe(
      'Maximum number of rows to return, at most 10000. Default: 10000; an answer that this limit or the maximum size of an answer (4 MiB) cut has `next_after`.',
    ),
  offset: laxInteger({ minimum: 0 }).nullish().describe('Rows to skip at the start.'),
  after: z
    .string()
    .nullish()
    .describe(
      'Extension, keyset pagination: starts after this cursor, the `next_after` of an answer with the same `sort_by`. Unlike `offset`, its cost does not grow with depth.',
    ),
  with_cursor: laxBoolean().nullish().describe('Extension: adds `next_after` to the answer.'),
});
export type FeedbackQueryRequest = z.output<typeof feedbackQueryRequest>;

const queryResultExample = { result: [{ id: '01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e', 'payload.score': 0.9 }] };

/** Rows as objects keyed by the requested field names. */
export const feedbackQueryResult = z
  .object({
    result: z.array(z.record(z.string(), z.unknown())).describe('The rows.'),
    next_after: z
      .string()
      .nullable()
      .optional()
      .describe(
        'With `with_cursor` or `after`: the cursor of the next page, null after the last row. Without a `limit` also where the answer was cut at 10000 rows or at 4 MiB.',
      ),
  })
  .meta({ examples: [queryResultExample] });
export type FeedbackQueryResult = z.output<typeof feedbackQueryResult>;

/** Body of a payload schema request. */
export const feedbackPayloadSchemaRequest = z.object({
  project_id: z.string().describe('Project, written `<entity>/<project>`.'),
  start: laxDateTime().describe('Inclusive start. UTC, ISO 8601.'),
  end: laxDateTime().nullish().describe('Exclusive end. UTC, ISO 8601. Default: now.'),
  feedback_type: z.string().nullish().describe('Only feedback of this type.'),
  trigger_ref: z
    .string()
    .nullish()
    .describe('Only feedback of this trigger. A reference that ends in `:*` matches all versions.'),
  sample_limit: laxInteger({ minimum: 1, maximum: 5000 })
    .prefault(2000)
    .describe(
      'Maximum number of trigger references to sample, each by its newest payload. Feedback without a reference counts as one.',
    ),
});
export type FeedbackPayloadSchemaRequest = z.output<typeof feedbackPayloadSchemaRequest>;

/** A leaf of feedback payloads. */
export const feedbackPayloadPath = z.object({
  json_path: z.string().describe('Keys joined with dots.'),
  value_type: z.enum(['numeric', 'boolean', 'categorical']).describe('Type of the values at the path.'),
});
export type FeedbackPayloadPath = z.output<typeof feedbackPayloadPath>;

const payloadSchemaExample = { paths: [{ json_path: 'output.score', value_type: 'numeric' }] };

/** The leaves found. */
export const feedbackPayloadSchemaResult = z
  .object({ paths: z.array(feedbackPayloadPath).describe('The leaves, ordered by path.') })
  .meta({ examples: [payloadSchemaExample] });
export type FeedbackPayloadSchemaResult = z.output<typeof feedbackPayloadSchemaResult>;

export const feedbackQueryRequestExamples = {
  valid: [
    { project_id: 'acme/app' },
    {
      project_id: 'acme/app',
      fields: ['id', 'payload.score'],
      query: { $expr: { $and: [{ $literal: 'text' }] } },
      sort_by: [{ field: 'created_at' }],
      limit: 10,
      offset: 0,
    },
    { project_id: 'acme/app', fields: null, query: null, sort_by: null, limit: '10', offset: null },
    { project_id: 'acme/app', after: 'WyJhIl0', with_cursor: true },
  ],
  invalid: [
    { input: {}, type: 'missing', loc: ['project_id'] },
    { input: { project_id: 'a/b', fields: 'id' }, type: 'list_type', loc: ['fields'] },
    { input: { project_id: 'a/b', fields: [1] }, type: 'string_type', loc: ['fields', '0'] },
    { input: { project_id: 'a/b', limit: 10.5 }, type: 'int_from_float', loc: ['limit'] },
    { input: { project_id: 'a/b', offset: -1 }, type: 'greater_than_equal', loc: ['offset'] },
    {
      input: { project_id: 'a/b', sort_by: [{ field: 'id', direction: 'DESC' }] },
      type: 'literal_error',
      loc: ['sort_by', '0', 'direction'],
    },
  ],
} as const;

export const feedbackQueryResultExamples = {
  valid: [queryResultExample, { result: [], next_after: null }],
  invalid: [{ input: { result: [1] }, type: 'dict_type', loc: ['result', '0'] }],
} as const;

export const feedbackPayloadSchemaRequestExamples = {
  valid: [
    { project_id: 'acme/app', start: '2026-01-01T00:00:00Z' },
    {
      project_id: 'acme/app',
      start: '2026-01-01',
      end: null,
      feedback_type: 'custom.score',
      trigger_ref: 'weave:///acme/app/object/monitor:*',
      sample_limit: 100,
    },
    { project_id: 'acme/app', start: 1_700_000_000, end: '1700000000' },
  ],
  invalid: [
    { input: { project_id: 'a/b' }, type: 'missing', loc: ['start'] },
    { input: { project_id: 'a/b', start: null }, type: 'datetime_type', loc: ['start'] },
    { input: { project_id: 'a/b', start: 'x' }, type: 'datetime_from_date_parsing', loc: ['start'] },
    { input: { project_id: 'a/b', start: 0, sample_limit: null }, type: 'int_type', loc: ['sample_limit'] },
    {
      input: { project_id: 'a/b', start: 0, sample_limit: 5001 },
      type: 'less_than_equal',
      loc: ['sample_limit'],
    },
  ],
} as const;

export const feedbackPayloadSchemaResultExamples = {
  valid: [payloadSchemaExample, { paths: [] }],
  invalid: [
    {
      input: { paths: [{ json_path: 'a', value_type: 'text' }] },
      type: 'literal_error',
      loc: ['paths', '0', 'value_type'],
    },
  ],
} as const;
