// GET /v1/preview/models/{model_id}/checkpoints: query parameters and one page of the list.

import { z } from 'zod';
import { laxInteger } from './lax-primitives.ts';

/** Id of a model as part of a path. */
export const modelIdParameter = z.string().describe('Id of the model.');

/** Cursor of a list by ids, which are UUIDs in lower case. */
const after = z
  .string()
  .toLowerCase()
  .optional()
  // `after=` means no cursor: nothing has an empty id.
  .transform(id => (id === '' ? undefined : id))
  .describe('Cursor: the id of the last item of the previous page.');

/** Query parameters. All values arrive as text. */
export const checkpointListQuery = z.object({
  after,
  limit: laxInteger({ minimum: 1, maximum: 100 }).prefault(20).describe('Number of items to return.'),
  order: z.enum(['asc', 'desc']).default('asc').describe('Order by step; `desc` starts with the newest.'),
});
export type CheckpointListQuery = z.output<typeof checkpointListQuery>;

/** Path and query parameters together, as one procedure takes them. */
export const checkpointListInput = z.object({
  model_id: modelIdParameter,
  ...checkpointListQuery.shape,
});
export type CheckpointListInput = z.output<typeof checkpointListInput>;

/** A stored state of a model. */
export const checkpoint = z.object({
  id: z.uuid().describe('Id of the checkpoint.'),
  step: z.int().describe('Training step of the checkpoint.'),
  metrics: z.record(z.string(), z.number()).describe('Metrics of the step, by name.'),
});
export type Checkpoint = z.output<typeof checkpoint>;

const checkpointExample = {
  id: '01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e',
  step: 4,
  metrics: { 'val/reward': 0.75 },
};
const listExample = {
  data: [checkpointExample],
  has_more: false,
  object: 'list',
  first_id: checkpointExample.id,
  last_id: checkpointExample.id,
};

/** One page of checkpoints. */
export const checkpointList = z
  .object({
    data: z.array(checkpoint).describe('The items of this page.'),
    has_more: z.boolean().describe('Whether more items follow this page.'),
    object: z.string().default('list').describe('Kind of object.'),
    first_id: z.string().default('').describe('Id of the first item; empty on an empty page.'),
    last_id: z.string().default('').describe('Id of the last item; empty on an empty page.'),
  })
  .meta({ examples: [listExample] });
export type CheckpointList = z.output<typeof checkpointList>;

export const checkpointListQueryExamples = {
  valid: [{}, { limit: '5', order: 'desc' }, { after: checkpointExample.id, limit: 100 }, { after: '' }],
  invalid: [
    { input: { limit: '0' }, type: 'greater_than_equal', loc: ['limit'] },
    { input: { limit: '101' }, type: 'less_than_equal', loc: ['limit'] },
    { input: { limit: 'abc' }, type: 'int_parsing', loc: ['limit'] },
    { input: { limit: '' }, type: 'int_parsing', loc: ['limit'] },
    { input: { order: 'DESC' }, type: 'literal_error', loc: ['order'] },
  ],
} as const;

export const checkpointListExamples = {
  valid: [listExample, { data: [], has_more: false }],
  invalid: [
    { input: { data: [] }, type: 'missing', loc: ['has_more'] },
    {
      input: { ...listExample, data: [{ ...checkpointExample, id: 'x' }] },
      type: 'value_error',
      loc: ['data', '0', 'id'],
    },
  ],
} as const;
