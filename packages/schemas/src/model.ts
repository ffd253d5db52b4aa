// Answer of GET /v1/models; body and answer of POST /v1/models/load and /v1/models/unload.

import { z } from 'zod';

/** One model of the list. */
export const modelRecord = z.object({
  id: z.string().describe('Id to pass as `model`.'),
  object: z.literal('model').describe('Kind of object.'),
  created: z.int().describe('Time of creation of the model. Unix seconds.'),
  owned_by: z.string().describe('Owner of the model.'),
  root: z.string().describe('Id of the model that this one derives from; its own id for a base model.'),
  max_model_len: z
    .int()
    .nullable()
    .describe('Maximum number of tokens of prompt and answer together; null until the model is loaded.'),
});
export type ModelRecord = z.output<typeof modelRecord>;

const listExample = {
  object: 'list',
  data: [
    {
      id: 'demo',
      object: 'model',
      created: 1_790_000_000,
      owned_by: 'ortler',
      root: 'demo',
      max_model_len: 4_096,
    },
  ],
};

/** All models. */
export const modelList = z
  .object({
    object: z.literal('list').describe('Kind of object.'),
    data: z.array(modelRecord).describe('The models.'),
  })
  .meta({ examples: [listExample] });
export type ModelList = z.output<typeof modelList>;

export const modelListExamples = {
  valid: [listExample, { object: 'list', data: [] }],
  invalid: [
    { input: { object: 'list' }, type: 'missing', loc: ['data'] },
    { input: { object: 'list', data: [{ id: 1 }] }, type: 'string_type', loc: ['data', '0', 'id'] },
    { input: { ...listExample, object: 'page' }, type: 'literal_error', loc: ['object'] },
  ],
} as const;

/** Body of loading and unloading. */
export const modelLoadRequest = z.object({
  model: z.string().min(1).describe('Id from the model list.'),
});

/** What becomes of the model. */
export const modelLoadState = z.object({
  id: z
    .string()
    .describe('The model that was loaded or unloaded: the checkpoint, even where the newest was named.'),
  object: z.literal('model.load').describe('Kind of object.'),
  state: z
    .enum(['ready', 'unloading'])
    .describe(
      '`ready`: it is in memory. `unloading`: it leaves memory once its open requests have ended; the next request loads it again.',
    ),
});
