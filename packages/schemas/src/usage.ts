// Parameters and answer of GET /v1/organization/usage/completions: what keys, teams, projects and models used, by days. The
// form is that of OpenAI's usage endpoint.

import { z } from 'zod';
import { laxInteger, reportRule } from './lax-primitives.ts';
import { isStorableText, NOT_STORABLE } from './storable-text.ts';

/** What the results of a bucket can be kept apart by. */
const GROUPS = ['api_key_id', 'team', 'project_id', 'model'] as const;

/** Maximum number of values of one list, and days of one page. */
const MAX_VALUES = 100;
const MAX_DAYS = 366;

/** A list in the query of an address: separated by commas, or a parameter that comes several times, with or without brackets. Over tRPC: a list. */
function listOf<Item extends z.ZodType>(item: Item) {
  return z
    .preprocess(
      given => (typeof given === 'string' ? (given === '' ? [] : given.split(',')) : given),
      z.array(item).max(MAX_VALUES),
    )
    .optional();
}

const names = listOf(z.string().refine(isStorableText, NOT_STORABLE));

const seconds = laxInteger({ minimum: 0, maximum: 253_402_300_799 });

/** Whether the text is a day of the calendar, written as a `next_page`. */
function isDay(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

function isBetween(seconds: number, start: number, end = Number.POSITIVE_INFINITY): boolean {
  return seconds >= start && seconds < end;
}

/** Query parameters of the usage of generations. */
export const usageInput = z
  .object({
    start_time: seconds.describe('Start, inclusive; the day that holds it counts whole. Unix seconds.'),
    end_time: seconds.optional().describe('End, exclusive. Unix seconds. Default: now.'),
    bucket_width: z.literal('1d').prefault('1d').describe('Length of a bucket. Days are those of UTC.'),
    group_by: listOf(z.enum(GROUPS)).describe(
      'What results are kept apart by. Default: one result per bucket.',
    ),
    api_key_ids: names.describe('Only usage of these keys.'),
    team_ids: names.describe('Only usage of these teams. Extension.'),
    project_ids: names.describe('Only usage of these projects.'),
    models: names.describe('Only usage of these models.'),
    limit: laxInteger({ minimum: 1, maximum: MAX_DAYS })
      .prefault(7)
      .describe('Maximum number of buckets per page.'),
    page: z.string().optional().describe('The `next_page` of the previous page.'),
  })
  .check(context => {
    const { start_time: start, end_time: end, page } = context.value;
    const isPage = page === undefined || (isDay(page) && isBetween(Date.parse(page) / 1_000, start, end));
    if (!isPage) reportRule(context, 'page', 'page must be the next_page of a request with the same times');
    if (end !== undefined && end <= start)
      reportRule(context, 'end_time', 'end_time must be after start_time');
  });
export type UsageInput = z.output<typeof usageInput>;

/** Sums of one bucket and group. */
export const usageResult = z.object({
  object: z.literal('organization.usage.completions.result').describe('Kind of object.'),
  num_model_requests: z.int().describe('Requests that ran, whole or in part.'),
  input_tokens: z.int().describe('Tokens of prompts, cached ones included.'),
  input_cached_tokens: z.int().describe('Tokens of prompts that were hits of the prefix cache.'),
  output_tokens: z.int().describe('Tokens of answers.'),
  api_key_id: z.string().nullable().describe('Id of the key; null unless grouped by it.'),
  team: z
    .string()
    .nullable()
    .describe('Team of the key; null without one and unless grouped by it. Extension.'),
  project_id: z
    .string()
    .nullable()
    .describe(
      'Header `Vendor-Project`, or else `OpenAI-Project`, of the requests; null without one and unless grouped by it.',
    ),
  model: z.string().nullable().describe('Id of the model that answered; null unless grouped by it.'),
});

const pageExample = {
  object: 'page',
  data: [
    {
      object: 'bucket',
      start_time: 1_790_000_000,
      end_time: 1_790_086_400,
      results: [
        {
          object: 'organization.usage.completions.result',
          num_model_requests: 5,
          input_tokens: 1000,
          input_cached_tokens: 800,
          output_tokens: 500,
          api_key_id: null,
          team: null,
          project_id: null,
          model: 'demo',
        },
      ],
    },
  ],
  has_more: false,
  next_page: null,
};

/** A page of buckets. */
export const usagePage = z
  .object({
    object: z.literal('page').describe('Kind of object.'),
    data: z
      .array(
        z.object({
          object: z.literal('bucket').describe('Kind of object.'),
          start_time: z.int().describe('Start of the day. Unix seconds.'),
          end_time: z.int().describe('Its end, exclusive. Unix seconds.'),
          results: z.array(usageResult).describe('Empty on a day without usage.'),
        }),
      )
      .describe('One bucket per day.'),
    has_more: z.boolean().describe('Whether later buckets follow.'),
    next_page: z.string().nullable().describe('`page` of the next request; null after the last page.'),
  })
  .meta({ examples: [pageExample] });
export type UsagePage = z.output<typeof usagePage>;

export const usagePageExamples = {
  valid: [pageExample, { object: 'page', data: [], has_more: false, next_page: null }],
  invalid: [{ input: { ...pageExample, data: 'x' }, type: 'list_type', loc: ['data'] }],
} as const;
