// POST /v1/preview/models/{model_id}/log: groups of trajectories. Unknown keys are kept, because clients send more than the
// published table (whole exchanges, exceptions) and a log must not lose data.

import { z } from 'zod';
import { boundedRecord, jsonObject, MAX_NAMED_VALUES } from './bounded-collections.ts';
import { modelIdParameter } from './checkpoint.ts';
import { laxBoolean, laxDateTime, laxInteger, laxNumber, reportRule } from './lax-primitives.ts';
import { metadataValue, metricValue } from './scalar-union.ts';
import { isStorableText } from './storable-text.ts';

/** An item of a conversation: a message as context, or a choice of a chat completion to train on. */
export const messageOrChoice = z
  .record(z.string(), z.unknown())
  .check(context => {
    const item = context.value;
    const isChoice =
      typeof item.message === 'object' && item.message !== null && !Array.isArray(item.message);
    if (isChoice || typeof item.role === 'string') return;
    reportRule(
      context,
      [],
      'Value error, an item needs a string role (a message) or an object message (a choice)',
    );
  })
  .describe(
    'A chat message (it has `role`) or a choice of a chat completion (it has `message`). ' +
      'Choices are outputs of the model and can be trained on.',
  );
export type MessageOrChoice = z.output<typeof messageOrChoice>;

/** A function that was offered to the model. */
export const trajectoryTool = z.object({
  type: z.literal('function').describe('Kind of tool; only functions exist.'),
  function: z
    .object({
      name: z.string().describe('Name of the function.'),
      description: z.string().nullish().describe('Description of the function.'),
      parameters: jsonObject().nullish().describe('JSON Schema of the arguments.'),
      strict: laxBoolean().nullish().describe('Whether the arguments must satisfy the schema.'),
    })
    .describe('The function.'),
});
export type TrajectoryTool = z.output<typeof trajectoryTool>;

const tools = z.array(trajectoryTool).nullish().describe('Tools offered to the model.');
const steps = z.array(messageOrChoice);

/** An additional conversation of the same trajectory, such as that of a sub-agent. */
export const trajectoryHistory = z.looseObject({
  messages_and_choices: steps.describe('The conversation, oldest item first.'),
  tools,
});
export type TrajectoryHistory = z.output<typeof trajectoryHistory>;

/** One attempt at a task, with its reward. */
export const trajectory = z.looseObject({
  messages_and_choices: steps.default([]).describe('The conversation, oldest item first.'),
  tools,
  additional_histories: z
    .array(trajectoryHistory)
    .prefault([])
    .describe('Additional conversations with the same reward.'),
  reward: laxNumber().prefault(0).describe('Reward of the attempt.'),
  initial_policy_version: laxInteger().nullish().describe('Checkpoint step in use at the start.'),
  final_policy_version: laxInteger().nullish().describe('Checkpoint step in use at the end.'),
  metrics: boundedRecord(metricValue(), MAX_NAMED_VALUES)
    .prefault({})
    .describe('Metrics of the attempt, by name.'),
  metadata: boundedRecord(metadataValue(), MAX_NAMED_VALUES)
    .prefault({})
    .describe('Metadata of the attempt, by name.'),
  logs: z.array(z.string()).default([]).describe('Log lines of the attempt.'),
  start_time: laxDateTime()
    .optional()
    .describe('Start time of the attempt. Default: arrival of the request.'),
});
export type Trajectory = z.output<typeof trajectory>;

/** Attempts at the same task, to be compared with each other, as in GRPO. */
export const trajectoryGroup = z.looseObject({
  trajectories: z.array(trajectory).describe('The attempts.'),
});
export type TrajectoryGroup = z.output<typeof trajectoryGroup>;

const logExample = {
  split: 'train',
  trajectory_groups: [
    {
      trajectories: [
        {
          messages_and_choices: [
            { role: 'user', content: 'What is 2 + 2?' },
            {
              finish_reason: 'stop',
              index: 0,
              message: { role: 'assistant', content: '4' },
              logprobs: { content: [{ token: '4', logprob: -0.1, bytes: [52], top_logprobs: [] }] },
            },
          ],
          reward: 1,
          metrics: { correct: true, seconds: 0.8 },
          metadata: { task: 'sum', difficulty: 1 },
        },
      ],
    },
  ],
};

/** Longest split, and longest name of a metric. Unit: UTF-16 code units. */
export const MAX_SPLIT_LENGTH = 200;

const split = z
  .string()
  .min(1)
  .max(MAX_SPLIT_LENGTH)
  .check(context => {
    if (/[/\\]/.test(context.value))
      reportRule(context, [], 'Value error, split must not contain a slash or backslash');
    // Databases cannot store these as text.
    else if (!isStorableText(context.value))
      reportRule(context, [], 'Value error, split must not contain control characters or lone surrogates');
  })
  .describe('Split of the trajectories, such as `train` or `val`.');

const step = laxInteger({ minimum: 0 })
  .nullish()
  .describe('Training step of the trajectories. Default: that of the newest checkpoint, or 0.');

/** The body without the groups, which may be too large to parse at once. */
export const trajectoryLogHead = z.object({ split, step });
export type TrajectoryLogHead = z.output<typeof trajectoryLogHead>;

/** The body. */
export const trajectoryLogBody = z.object({
  split,
  trajectory_groups: z.array(trajectoryGroup).describe('The groups; may be empty.'),
  step,
});
export type TrajectoryLogBody = z.output<typeof trajectoryLogBody>;

/** Path parameter and body together, as one procedure takes them. */
export const trajectoryLogInput = z.object({ model_id: modelIdParameter, ...trajectoryLogBody.shape });
export type TrajectoryLogInput = z.output<typeof trajectoryLogInput>;

const resultExample = {
  object: 'trajectory_log',
  id: '01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e',
  groups: 1,
  trajectories: 1,
};

/** The answer: id and counts of the stored groups. */
export const trajectoryLogResult = z
  .object({
    object: z.literal('trajectory_log').describe('Kind of object.'),
    id: z.string().describe('Id of the stored record.'),
    groups: z.int().describe('Number of stored groups.'),
    trajectories: z.int().describe('Number of stored trajectories in all groups.'),
  })
  .meta({ examples: [resultExample] });
export type TrajectoryLogResult = z.output<typeof trajectoryLogResult>;

export const trajectoryLogBodyExamples = {
  valid: [
    logExample,
    { split: 'val', trajectory_groups: [] },
    { split: 'val', trajectory_groups: [{ trajectories: [{}] }], model_id: 'sent by clients and ignored' },
    {
      split: 'val',
      trajectory_groups: [
        { trajectories: [], exceptions: [{ type: 'TimeoutError', message: '', traceback: '' }] },
      ],
    },
  ],
  invalid: [
    { input: {}, type: 'missing', loc: ['split'] },
    { input: { split: '', trajectory_groups: [] }, type: 'string_too_short', loc: ['split'] },
    { input: { split: 'a/b', trajectory_groups: [] }, type: 'value_error', loc: ['split'] },
    { input: { split: 'val', trajectory_groups: {} }, type: 'list_type', loc: ['trajectory_groups'] },
    {
      input: { split: 'val', trajectory_groups: [{ trajectories: [{ messages_and_choices: [{}] }] }] },
      type: 'value_error',
      loc: ['trajectory_groups', '0', 'trajectories', '0', 'messages_and_choices', '0'],
    },
  ],
} as const;

export const trajectoryLogResultExamples = {
  valid: [resultExample],
  invalid: [{ input: {}, type: 'missing', loc: ['object'] }],
} as const;
