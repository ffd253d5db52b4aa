// The answer of POST /v1/responses and the items of its output.

import { z } from 'zod';
import { tokenLogprob } from './chat-logprobs.ts';
import { reportRule } from './lax-primitives.ts';
import { responseTextFormat } from './response-request.ts';
import { responseTool, responseToolChoice } from './response-tools.ts';

const itemStatus = z
  .enum(['in_progress', 'completed', 'incomplete'])
  .describe('`incomplete`: the answer was cut off in this item.');

/** The text of a message. */
export const responseOutputText = z.object({
  type: z.literal('output_text'),
  text: z.string().describe('The generated text.'),
  annotations: z.array(z.unknown()).describe('Always empty.'),
  logprobs: z.array(tokenLogprob).describe('Log probabilities of the tokens, when requested; else empty.'),
});
export type ResponseOutputText = z.output<typeof responseOutputText>;

/** A message in place of an answer. */
export const responseRefusal = z.object({
  type: z.literal('refusal'),
  refusal: z.string().describe('Why the model does not answer. Only of models of other servers.'),
});

export const responseSummaryText = z.object({
  type: z.literal('summary_text'),
  text: z.string().describe('Text of the reasoning.'),
});
export const responseReasoningText = z.object({
  type: z.literal('reasoning_text'),
  text: z.string().describe('Text of the reasoning.'),
});

/** One item of the output. */
export const responseOutputItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string().describe('Id of the item.'),
    status: itemStatus,
    role: z.literal('assistant'),
    content: z
      .array(z.discriminatedUnion('type', [responseOutputText, responseRefusal]))
      .describe('The text of the message, or a refusal.'),
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string().describe('Id of the item.'),
    status: itemStatus,
    summary: z.array(responseSummaryText).describe('The reasoning, when a summary was requested.'),
    content: z.array(responseReasoningText).describe('The reasoning, unless a summary was requested.'),
    encrypted_content: z.null(),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string().describe('Id of the item.'),
    status: itemStatus,
    call_id: z.string().describe('Id of the call, which its output repeats.'),
    name: z.string().describe('Name of the function to call.'),
    arguments: z.string().describe('Its arguments as JSON text.'),
  }),
]);
export type ResponseOutputItem = z.output<typeof responseOutputItem>;

/** Token counts. */
export const responseUsage = z.object({
  input_tokens: z.int().describe('Tokens of the prompt.'),
  input_tokens_details: z.object({
    cached_tokens: z.int().describe('Prefix cache hits: prompt tokens that were not computed again.'),
  }),
  output_tokens: z.int().describe('Generated tokens.'),
  output_tokens_details: z.object({ reasoning_tokens: z.int().describe('Those of the reasoning.') }),
  total_tokens: z.int().describe('Prompt and generated tokens together.'),
});
export type ResponseUsage = z.output<typeof responseUsage>;

const responseExample = {
  id: 'resp_9f1c6a52b0d94a3c8e7f',
  object: 'response',
  created_at: 1_790_000_000,
  completed_at: 1_790_000_001,
  status: 'completed',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  model: 'demo',
  output: [
    {
      type: 'message',
      id: 'msg_9f1c6a52b0d94a3c8e7f_0',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Paris', annotations: [], logprobs: [] }],
    },
  ],
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: null,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'none',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  usage: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 14,
  },
  user: null,
};

/** The answer. Fields of the request are repeated with their defaults. */
export const responseObject = z
  .object({
    id: z.string().describe('Id of the answer.'),
    object: z.literal('response'),
    created_at: z.int().describe('Time of the request. Unix seconds.'),
    completed_at: z.int().nullable().describe('Time of the end. Unix seconds; null before it.'),
    status: z
      .enum(['in_progress', 'completed', 'incomplete', 'failed'])
      .describe('`incomplete`: `incomplete_details` says why.'),
    background: z.literal(false),
    error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .describe('The error of a `failed` answer.'),
    incomplete_details: z
      .object({ reason: z.enum(['max_output_tokens', 'repetition', 'content_filter']) })
      .nullable()
      .describe(
        'Why an `incomplete` answer was cut off; `repetition` only with `repetition_detection`, `content_filter` only by models of other servers.',
      ),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    max_tool_calls: z.int().nullable(),
    metadata: z.record(z.string(), z.string()),
    model: z.string().describe('Id of the model that answered.'),
    output: z.array(responseOutputItem).describe('The items that were generated.'),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    prompt_cache_key: z.string().nullable(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }),
    safety_identifier: z.string().nullable(),
    service_tier: z.literal('default'),
    store: z.boolean(),
    temperature: z.number().nullable().describe('As requested; null is the default of the model.'),
    text: z.object({ format: responseTextFormat, verbosity: z.literal('medium') }),
    tool_choice: responseToolChoice,
    tools: z.array(responseTool),
    top_logprobs: z.int(),
    top_p: z.number().nullable().describe('As requested; null is the default of the model.'),
    truncation: z.enum(['auto', 'disabled']),
    usage: responseUsage.nullable().describe('Token counts; null before the end.'),
    user: z.string().nullable(),
  })
  .meta({ examples: [responseExample] });
export type ResponseObject = z.output<typeof responseObject>;

/** Parameter of the routes of one stored response. */
export const responseId = z.object({ response_id: z.string().min(1).describe('Id of the response.') });

/** Query parameters of GET /v1/responses/{response_id}. */
export const responseRetrieveInput = responseId.extend({
  stream: z
    .enum(['false', 'true'])
    .optional()
    .describe('Only false: events are sent while an answer is generated, not again.')
    .check(context => {
      if (context.value === 'true')
        reportRule(context, [], 'Stored responses are not streamed again; leave stream out');
    }),
});

/** Answer of POST /v1/responses/input_tokens. */
export const responseInputTokens = z.object({
  object: z.literal('response.input_tokens'),
  input_tokens: z.int().describe('Tokens of the prompt that a response with the same fields computes.'),
});

/** Answer of DELETE /v1/responses/{response_id}. */
export const deletedResponse = z.object({
  id: z.string().describe('Id of the response.'),
  object: z.literal('response'),
  deleted: z.literal(true),
});

export const responseObjectExamples = {
  valid: [
    responseExample,
    { ...responseExample, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  ],
  invalid: [
    { input: { ...responseExample, output: undefined }, type: 'missing', loc: ['output'] },
    { input: { ...responseExample, status: 'done' }, type: 'literal_error', loc: ['status'] },
  ],
} as const;
