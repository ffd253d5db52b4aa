// Answer of POST /v1/chat/completions without streaming. Absent values are null, never omitted.

import { z } from 'zod';
import { choiceLogprobs, promptLogprobs, usage } from './chat-logprobs.ts';
import { chatMessageToolCall } from './chat-message.ts';

/** Why a choice ended. `repetition` and `abort` extend OpenAI's set. */
export const finishReason = z
  .enum(['stop', 'length', 'tool_calls', 'repetition', 'abort', 'error', 'content_filter'])
  .describe(
    'Why the choice ended. `error`: its constraint failed, but that of another choice did not. `content_filter`: only of models of other servers.',
  );
export type FinishReason = z.output<typeof finishReason>;

/** The stop string or stop token that ended a choice. */
export const stopReason = z
  .union([z.int(), z.string()])
  .nullable()
  .describe(
    'The stop string or stop token id that ended the choice; null for an end token (EOS) and other reasons.',
  );
export type StopReason = z.output<typeof stopReason>;

/** Where a constrained choice stood when it was cut off. Absent otherwise. */
export const constraintPosition = z
  .object({
    is_complete: z.boolean().describe('The text is complete under the constraint, which could have gone on.'),
    path: z
      .string()
      .optional()
      .describe('JSON pointer to the innermost value that is not complete, where the output is JSON.'),
    inside: z
      .enum(['object', 'array', 'name', 'string', 'number', 'literal', 'nothing'])
      .optional()
      .describe(
        'The part of JSON that is open there; `name` is that of a property, `nothing` an answer not begun.',
      ),
  })
  .optional()
  .describe(
    'Only with `finish_reason: length` under a structured output: the position where the choice stopped.',
  );
export type ConstraintPosition = z.output<typeof constraintPosition>;

/** The generated message. */
export const responseMessage = z.object({
  role: z.string().describe('`assistant`, or the role of the last message if that is continued.'),
  content: z.string().nullable().describe('The generated text; null where there are only tool calls.'),
  refusal: z.string().nullable().describe('Always null.'),
  annotations: z
    .object({
      type: z.string(),
      url_citation: z.object({
        end_index: z.int(),
        start_index: z.int(),
        title: z.string(),
        url: z.string(),
      }),
    })
    .nullable()
    .describe('Always null.'),
  audio: z
    .object({ id: z.string(), data: z.string(), expires_at: z.int(), transcript: z.string() })
    .nullable()
    .describe('Always null.'),
  function_call: z.object({ name: z.string(), arguments: z.string() }).nullable().describe('Always null.'),
  tool_calls: z.array(chatMessageToolCall).describe('Tool calls; empty when there are none.'),
  reasoning: z.string().nullable().describe('Reasoning text of the model, apart from its answer.'),
});
export type ResponseMessage = z.output<typeof responseMessage>;

/** One generated answer. */
export const chatChoice = z.object({
  index: z.int().describe('Index of the choice, from 0.'),
  message: responseMessage.describe('The generated message.'),
  logprobs: choiceLogprobs.nullable().describe('Log probabilities, when requested.'),
  finish_reason: finishReason,
  stop_reason: stopReason,
  constraint_position: constraintPosition,
  token_ids: z.array(z.int()).nullable().describe('Ids of the generated tokens, when requested.'),
});
export type ChatChoice = z.output<typeof chatChoice>;

const completionExample = {
  id: 'chatcmpl-9f1c6a52b0d94a3c8e7f',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'demo',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Paris',
        refusal: null,
        annotations: null,
        audio: null,
        function_call: null,
        tool_calls: [],
        reasoning: null,
      },
      logprobs: {
        content: [
          {
            token: 'Paris',
            logprob: -0.01,
            bytes: [80, 97, 114, 105, 115],
            top_logprobs: [{ token: 'Paris', logprob: -0.01, bytes: [80, 97, 114, 105, 115] }],
          },
        ],
      },
      finish_reason: 'stop',
      stop_reason: null,
      token_ids: null,
    },
  ],
  service_tier: null,
  system_fingerprint: null,
  usage: {
    prompt_tokens: 12,
    total_tokens: 14,
    completion_tokens: 2,
    prompt_tokens_details: { cached_tokens: 0 },
  },
  prompt_logprobs: null,
  prompt_token_ids: null,
  kv_transfer_params: null,
};

/** The whole answer. */
export const chatCompletion = z
  .object({
    id: z.string().describe('`chatcmpl-` and the id of the request.'),
    object: z.literal('chat.completion').default('chat.completion').describe('Kind of object.'),
    created: z.int().describe('Time of the request. Unix seconds.'),
    model: z.string().describe('Id of the model that answered.'),
    choices: z.array(chatChoice).describe('The generated answers, by index.'),
    service_tier: z
      .enum(['auto', 'default', 'flex', 'scale', 'priority'])
      .nullable()
      .describe('Always null: there are no tiers.'),
    system_fingerprint: z.string().nullable().describe('Always null.'),
    usage: usage.describe('Token counts.'),
    prompt_logprobs: z
      .array(promptLogprobs.nullable())
      .nullable()
      .describe('One entry per token of the prompt, the first null; when requested.'),
    prompt_token_ids: z.array(z.int()).nullable().describe('Token ids of the prompt, when requested.'),
    kv_transfer_params: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('KV cache transfer parameters of disaggregated serving.'),
  })
  .meta({ examples: [completionExample] });
export type ChatCompletion = z.output<typeof chatCompletion>;

export const chatCompletionExamples = {
  valid: [completionExample],
  invalid: [
    { input: { ...completionExample, choices: undefined }, type: 'missing', loc: ['choices'] },
    { input: { ...completionExample, object: 'list' }, type: 'literal_error', loc: ['object'] },
    { input: { ...completionExample, model: null }, type: 'string_type', loc: ['model'] },
  ],
} as const;
