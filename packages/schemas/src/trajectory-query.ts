// Reading logged trajectories back: pages, a stream of lines for a trainer, and the metrics of each split.

import { z } from 'zod';
import { modelIdParameter } from './checkpoint.ts';
import { laxDateTime, laxInteger, laxNumber, reportRule } from './lax-primitives.ts';
import { isStorableText } from './storable-text.ts';

// Databases cannot be asked for what they cannot keep as text.
const splitFilter = z
  .string()
  .refine(isStorableText, 'Value error, split must not contain control characters or half characters')
  .optional()
  .describe('Only this split.');

const filter = {
  split: splitFilter,
  step: laxInteger({ minimum: 0 }).optional().describe('Only this step.'),
  min_reward: laxNumber().optional().describe('Smallest reward, inclusive.'),
  max_reward: laxNumber().optional().describe('Largest reward, inclusive.'),
  logged_from: laxDateTime().optional().describe('Logged at this moment or later.'),
  logged_before: laxDateTime().optional().describe('Logged before this moment.'),
};

// A position in the order of logging. Text, as every id is.
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
    .describe('Most items to return. Fewer come when they are large; `has_more` tells.'),
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
    id: z.string().describe('Position among the trajectories of the model; grows with time.'),
    log_id: z.string().describe('Id of the call that logged it.'),
    group_index: z.int().describe('Position of its group in the call.'),
    trajectory_index: z.int().describe('Position in its group.'),
    split: z.string().describe('Split it was logged under.'),
    step: z.int().describe('Step it was logged at.'),
    reward: z.number().describe('How good the attempt was.'),
    initial_policy_version: z.int().nullable().describe('Checkpoint step in use at the start.'),
    final_policy_version: z.int().nullable().describe('Checkpoint step in use at the end.'),
    metrics: z.record(z.string(), z.union([z.number(), z.boolean()])).describe('Measured values, by name.'),
    trainable_items: z.array(z.int()).describe('Positions in `messages_and_choices` of the choices.'),
    start_time: z.string().describe('When the attempt began. UTC, ISO 8601.'),
    logged_at: z.string().describe('When it was stored. UTC, ISO 8601.'),
    trajectory: z
      .any()
      .meta({ type: 'object', additionalProperties: true })
      .describe('The trajectory as it was sent, every digit and unknown key included.'),
  })
  .meta({ examples: [itemExample] });
export type StoredTrajectoryRecord = z.output<typeof storedTrajectory>;

/** One page of trajectories. */
export const trajectoryList = z.object({
  object: z.literal('list').describe('Kind of object.'),
  data: z.array(storedTrajectory).describe('The items of this page, in the order of logging.'),
  has_more: z.boolean().describe('Whether more items stand behind this page.'),
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
          counts: z.record(z.string(), z.int()).describe('How many values each mean is of.'),
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
