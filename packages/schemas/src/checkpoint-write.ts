// Registering, reading and deleting single checkpoints of a model.

import { z } from 'zod';
import { boundedRecord, MAX_NAMED_VALUES } from './bounded-collections.ts';
import { checkpoint, modelIdParameter } from './checkpoint.ts';
import { laxInteger, laxNumber } from './lax-primitives.ts';
import { metricName } from './metric-name.ts';

const metrics = boundedRecord(laxNumber(), MAX_NAMED_VALUES, metricName).describe(
  'Metrics of the step, by name.',
);
const weightsKind = z.enum(['full', 'lora']);

/** The weights of a checkpoint. */
export const checkpointWeights = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4_096)
    .describe("Folder of the weights inside the server's checkpoint folder, relative or absolute."),
  kind: weightsKind
    .nullish()
    .describe('Full weights, or a LoRA adapter on the base model. Default: detected from the folder.'),
});

/** The body. Unknown keys are refused: a misspelt `weights` would register a checkpoint without weights for good. */
export const checkpointRegistration = z.strictObject({
  id: z
    .uuid()
    .toLowerCase()
    .nullish()
    .describe('Id of the checkpoint, kept in lower case. Default: a generated one.'),
  step: laxInteger({ minimum: 0 })
    .nullish()
    .describe('Training step of the checkpoint. Default: one more than the newest, starting from 0.'),
  metrics: metrics.prefault({}),
  weights: checkpointWeights
    .nullish()
    .describe('With weights, the checkpoint can be served as `<model>:step<N>`.'),
});
export type CheckpointRegistration = z.output<typeof checkpointRegistration>;

const idParameter = z.string().toLowerCase().describe('Id of the checkpoint.');

export const checkpointRegistrationInput = z.strictObject({
  model_id: modelIdParameter,
  ...checkpointRegistration.shape,
});

export const checkpointInput = z.object({ model_id: modelIdParameter, checkpoint_id: idParameter });

/** Unknown keys are refused here, too: nothing but metrics can change. */
export const checkpointMetricsInput = z.strictObject({
  model_id: modelIdParameter,
  checkpoint_id: idParameter,
  metrics,
});

/** Maximum number of steps of one deletion. */
const MAX_STEPS = 1_000;

export const checkpointDeletionInput = z.object({
  model_id: modelIdParameter,
  steps: z
    .array(laxInteger())
    .max(MAX_STEPS)
    .describe('Steps whose checkpoints are deleted. Weights stay on disk.'),
});

const recordExample = {
  id: '01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e',
  step: 4,
  metrics: { 'val/reward': 0.75 },
  model: 'acme/agents/clerk:step4',
  weights: { path: '/srv/checkpoints/clerk/4', kind: 'lora' },
  created_at: '2026-01-01T00:00:00.000Z',
};

/** One checkpoint with all its fields. */
export const checkpointRecord = z
  .object({
    ...checkpoint.shape,
    model: z.string().nullable().describe('Model id for chats; null without weights.'),
    weights: z
      .object({
        path: z.string().describe('Absolute folder.'),
        kind: weightsKind.describe('Kind of weights.'),
      })
      .nullable()
      .describe('The registered weights, if any.'),
    created_at: z.string().describe('Time of registration. UTC, ISO 8601.'),
  })
  .meta({ examples: [recordExample] });
export type CheckpointRecord = z.output<typeof checkpointRecord>;

/** The answer to a deletion. */
export const checkpointDeletion = z.object({
  deleted_count: z.int().describe('Number of deleted checkpoints.'),
  not_found_steps: z.array(z.int()).describe('Steps without a checkpoint.'),
});
export type CheckpointDeletion = z.output<typeof checkpointDeletion>;

export const checkpointRegistrationExamples = {
  valid: [{}, { step: 3, metrics: { 'val/reward': '0.5' }, weights: { path: 'clerk/3', kind: 'lora' } }],
  invalid: [
    { input: { step: -1 }, type: 'greater_than_equal', loc: ['step'] },
    { input: { id: 'x' }, type: 'value_error', loc: ['id'] },
    { input: { metrics: { a: 'x' } }, type: 'float_parsing', loc: ['metrics', 'a'] },
    { input: { metrics: { 'a\u0001': 1 } }, type: 'value_error', loc: ['metrics', 'a\u0001', '[key]'] },
    { input: { metrics: { '': 1 } }, type: 'string_too_short', loc: ['metrics', '', '[key]'] },
    { input: { weights: {} }, type: 'missing', loc: ['weights', 'path'] },
    { input: { weights_path: 'clerk/3' }, type: 'extra_forbidden', loc: ['weights_path'] },
    { input: { weights: { path: 'a', type: 'lora' } }, type: 'extra_forbidden', loc: ['weights', 'type'] },
  ],
} as const;
