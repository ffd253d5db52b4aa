// POST and GET /v1/preview/models, and reading and deleting one: models under training.

import { z } from 'zod';
import { checkpointListQuery, modelIdParameter } from './checkpoint.ts';
import { laxBoolean, reportRule } from './lax-primitives.ts';
import { isStorableText, NOT_STORABLE } from './storable-text.ts';

/** Longest entity, project or name. Unit: UTF-16 code units. */
export const MAX_MODEL_NAME_LENGTH = 200;

// References join parts with slashes and append a checkpoint after a colon, so parts must not contain either.
const namePart = z
  .string()
  .min(1)
  .max(MAX_MODEL_NAME_LENGTH)
  .check(context => {
    if (/[/\\:]/.test(context.value))
      reportRule(context, [], 'Value error, a name must not contain a slash, backslash or colon');
    else if (!isStorableText(context.value))
      reportRule(context, [], 'Value error, a name must not contain control characters or lone surrogates');
  });

/** The body. */
export const trainingModelRequest = z.object({
  entity: namePart
    .nullish()
    .describe(
      "Owner of the model. Default: the team of the caller's key, or `default`. A key of a team may name only its team.",
    ),
  project: namePart.nullish().describe('Project of the model. Default: `default`.'),
  name: namePart.nullish().describe('Name of the model. Default: a generated one.'),
  base_model: z
    .string()
    .min(1)
    .max(1_000)
    .refine(isStorableText, NOT_STORABLE)
    .describe('Base model of the training.'),
  return_existing: laxBoolean()
    .prefault(false)
    .describe('Returns an existing model of this name instead of failing.'),
});
export type TrainingModelRequest = z.output<typeof trainingModelRequest>;

/** Path parameter alone. */
export const trainingModelInput = z.object({ model_id: modelIdParameter });
export type TrainingModelInput = z.output<typeof trainingModelInput>;

const modelExample = {
  object: 'training_model',
  id: '01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e',
  entity: 'acme',
  project: 'agents',
  name: 'clerk',
  base_model: 'ortler-demo',
  run_id: null,
  created_at: '2026-01-01T00:00:00.000Z',
};

/** A model under training. */
export const trainingModel = z
  .object({
    object: z.literal('training_model').describe('Kind of object.'),
    id: z.string().describe('Id of the model.'),
    entity: z.string().describe('Owner of the model.'),
    project: z.string().describe('Project of the model.'),
    name: z.string().describe('Name of the model.'),
    base_model: z.string().describe('Base model of the training.'),
    run_id: z.string().nullable().describe('Always null: this server runs no training jobs.'),
    created_at: z.string().describe('Time of creation. UTC, ISO 8601.'),
  })
  .meta({ examples: [modelExample] });
export type TrainingModelRecord = z.output<typeof trainingModel>;

/** Query parameters of the list. */
export const trainingModelListQuery = z.object({
  ...checkpointListQuery.shape,
  entity: z.string().refine(isStorableText, NOT_STORABLE).optional().describe('Only models of this owner.'),
  project: z
    .string()
    .refine(isStorableText, NOT_STORABLE)
    .optional()
    .describe('Only models of this project.'),
  order: z
    .enum(['asc', 'desc'])
    .default('asc')
    .describe('Order by time of creation; `desc` starts with the newest.'),
});
export type TrainingModelListQuery = z.output<typeof trainingModelListQuery>;

/** One page of models. */
export const trainingModelList = z.object({
  object: z.literal('list').describe('Kind of object.'),
  data: z.array(trainingModel).describe('The items of this page.'),
  has_more: z.boolean().describe('Whether more items follow this page.'),
  first_id: z.string().describe('Id of the first item; empty on an empty page.'),
  last_id: z.string().describe('Id of the last item; empty on an empty page.'),
});
export type TrainingModelList = z.output<typeof trainingModelList>;

/** The answer to a deletion. */
export const trainingModelDeletion = z.object({
  object: z.literal('training_model.deleted').describe('Kind of object.'),
  id: z.string().describe('Id of the model.'),
  deleted: z.literal(true).describe('Always true.'),
});
export type TrainingModelDeletion = z.output<typeof trainingModelDeletion>;

export const trainingModelRequestExamples = {
  valid: [
    { base_model: 'ortler-demo' },
    { entity: null, project: 'agents', name: 'clerk', base_model: 'ortler-demo', return_existing: true },
  ],
  invalid: [
    { input: {}, type: 'missing', loc: ['base_model'] },
    { input: { base_model: '' }, type: 'string_too_short', loc: ['base_model'] },
    { input: { base_model: 'a', name: 'b/c' }, type: 'value_error', loc: ['name'] },
    { input: { base_model: 'a', name: 'b:step1' }, type: 'value_error', loc: ['name'] },
  ],
} as const;

export const trainingModelExamples = {
  valid: [modelExample],
  invalid: [{ input: { ...modelExample, run_id: undefined }, type: 'missing', loc: ['run_id'] }],
} as const;
