// Queries of logged trajectories: pages, a JSON lines export for trainers, and the metrics of each split.

import { z } from 'zod';
import { modelIdParameter } from './checkpoint.ts';
import { laxDateTime, laxInteger, laxNumber, reportRule } from './lax-primitives.ts';
import { isStorableText } from './storable-text.ts';

// Databases refuse queries for text that they cannot store.
const splitFilter = z
  .string()
  .refine(isStorableText, 'Value error, split must not contain control characters or lone surrogates')
  .optional()
  .describe('Only this split.');

const filter = {
  split: splitFilter,
  step: laxInteger({ minimum: 0 }).optional().describe('Only this step.'),
  min_reward: laxNumber().optional().describe('Lowest reward, inclusive.'),
  max_reward: laxNumber().optional().describe('Highest reward, inclusive.'),
  logged_from: laxDateTime().optional().describe('Start of the time of logging, inclusive.'),
  logged_before: laxDateTime().optional().describe('End of the time of logging, exclusive.'),
};

// A position in the order of logging, as text like all ids.
const cursor = z
  .string()
  .optional()
  .transform(after => (after === '' ? undefined : after))
  .check(context => {
    if (context.value === undefined || /^\d{1,15}$/.test(context.value)) return;
    reportRule(context, [], 'Value error, after is not the id of a trajectory');
  })
  .describe('Cursor: the id of the last item of the previous page.');

/** Query parameters of a page. All values arrive as text. */
export const trajectoryListInput = z.object({
  model_id: modelIdParameter,
  ...filter,
  after: cursor,
  limit: laxInteger({ minimum: 1, maximum: 100 })
    .prefault(20)
    .describe('Maximum number of items to return. Large items come in smaller pages; see `has_more`.'),
});
export type TrajectoryListInput = z.output<typeof trajectoryListInput>;

/** Query parameters of a stream. */
export const trajectoryExportInput = z.object({ model_id: modelIdParameter, ...filter, after: cursor });
export type TrajectoryExportInput = z.output<typeof trajectoryExportInput>;

const itemExample = {
  id: '17',
  log_id: '01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e',
  group_index: 0,
  trajectory_index: 1,
  split: 'train',
  step: 3,
  reward: 1,
  initial_policy_version: 3,
  final_policy_version: 3,
  metrics: { correct: true },
  trainable_items: [1],
  start_time: '2026-01-01T00:00:00.000Z',
  logged_at: '2026-01-01T00:00:01.000Z',
  trajectory: { reward: 1, messages_and_choices: [{ role: 'user', content: 'Hi' }] },
};

/** A stored trajectory. */
export const storedTrajectory = z
  .object({
    id: z.string().describe('Position among the trajectories of the model, in the order of logging.'),
    log_id: z.string().describe('Id of the log call.'),
    group_index: z.int().describe('Index of its group in the log call.'),
    trajectory_index: z.int().describe('Index in its group.'),
    split: z.string().describe('Split of the log call.'),
    step: z.int().describe('Training step of the log call.'),
    reward: z.number().describe('Reward of the attempt.'),
    initial_policy_version: z.int().nullable().describe('Checkpoint step in use at the start.'),
    final_policy_version: z.int().nullable().describe('Checkpoint step in use at the end.'),
    metrics: z
      .record(z.string(), z.union([z.number(), z.boolean()]))
      .describe('Metrics of the attempt, by name.'),
    trainable_items: z
      .array(z.int())
      .describe('Indexes of the choices in `messages_and_choices`, which can be trained on.'),
    start_time: z.string().describe('Start time of the attempt. UTC, ISO 8601.'),
    logged_at: z.string().describe('Time of logging. UTC, ISO 8601.'),
    trajectory: z
      .any()
      .meta({ type: 'object', additionalProperties: true })
      .describe('The trajectory as it was sent, including every digit and unknown key.'),
  })
  .meta({ examples: [itemExample] });
export type StoredTrajectoryRecord = z.output<typeof storedTrajectory>;

/** One page of trajectories. */
export const trajectoryList = z.object({
  object: z.literal('list').describe('Kind of object.'),
  data: z.array(storedTrajectory).describe('The items of this page, in the order of logging.'),
  has_more: z.boolean().describe('Whether more items follow this page.'),
  first_id: z.string().describe('Id of the first item; empty on an empty page.'),
  last_id: z.string().describe('Id of the last item; empty on an empty page.'),
});
export type TrajectoryList = z.output<typeof trajectoryList>;

/** Query parameters of the metrics. */
export const splitMetricsInput = z.object({
  model_id: modelIdParameter,
  split: splitFilter,
});
export type SplitMetricsInput = z.output<typeof splitMetricsInput>;

const metricsExample = {
  object: 'list',
  data: [{ split: 'val', step: 3, metrics: { reward: 0.75 }, counts: { reward: 4 } }],
};

/** Metrics of every split over the steps. */
export const splitMetrics = z
  .object({
    object: z.literal('list').describe('Kind of object.'),
    data: z
      .array(
        z.object({
          split: z.string().describe('The split.'),
          step: z.int().describe('The step.'),
          metrics: z.record(z.string(), z.number()).describe('Mean of each metric.'),
          counts: z.record(z.string(), z.int()).describe('Number of values in each mean.'),
        }),
      )
      .describe('One item per split and step, steps in order.'),
  })
  .meta({ examples: [metricsExample] });
export type SplitMetrics = z.output<typeof splitMetrics>;

export const storedTrajectoryExamples = {
  valid: [itemExample],
  invalid: [{ input: { ...itemExample, split: 1 }, type: 'string_type', loc: ['split'] }],
} as const;

export const splitMetricsExamples = {
  valid: [metricsExample],
  invalid: [{ input: { object: 'list' }, type: 'missing', loc: ['data'] }],
} as const;
