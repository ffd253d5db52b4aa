// Body of POST /v1/chat/completions, in the order of the published table. Unknown keys are accepted and dropped.
// The rules here depend on the body alone; rules that depend on the model are checked by the api.

import { z } from 'zod';
import { boundedList, boundedRecord, MAX_NAMED_VALUES } from './bounded-collections.ts';
import { promptFields } from './chat-prompt.ts';
import {
  extendedFields,
  latestFields,
  logprobFields,
  samplingFields,
  stoppingFields,
} from './chat-sampling.ts';
import { structuredOutputFields } from './chat-structured-output.ts';
import { toolFields } from './chat-tools.ts';
import { laxBoolean, laxInteger, laxNumber, nullAsDefault, reportRule } from './lax-primitives.ts';
import { removedConstraintFields, removedToolFields } from './removed-fields.ts';
import { checkSharedRules } from './request-rules.ts';

/** Longest `cache_salt`, in UTF-16 code units. Source: the service this wire format comes from. */
export const MAX_CACHE_SALT_LENGTH = 128;

/** Options of a streamed answer. */
export const streamOptions = z
  .object({
    include_usage: laxBoolean()
      .nullish()
      .describe('Adds a last chunk with the token counts of the whole request.'),
    continuous_usage_stats: laxBoolean()
      .nullish()
      .describe('Adds token counts to every chunk, together with `include_usage`. Default: false.'),
  })
  .describe('Only with `stream: true`.');
export type StreamOptions = z.output<typeof streamOptions>;

/** Maximum number of entries of `engine_xargs`, and of values of one that is a list. */
const MAX_EXTRA_ARGUMENT_COUNT = 256;

// Text comes first, because a union takes the first member that matches and numeric text must stay text.
const extraArgument = z.union([z.string(), laxNumber()]);
const extraArguments = boundedRecord(
  z.union([extraArgument, boundedList(extraArgument, { maxLength: MAX_EXTRA_ARGUMENT_COUNT })]),
  MAX_EXTRA_ARGUMENT_COUNT,
).nullish();

const FRANCE = [{ role: 'user', content: 'What is the capital of France?' }];

/** The request. */
export const chatCompletionRequest = z
  .object({
    messages: promptFields.messages,
    model: z.string().nullish().describe('Id from the model list. Default: the server’s first model.'),
    frequency_penalty: samplingFields.frequency_penalty,
    logit_bias: samplingFields.logit_bias,
    logprobs: logprobFields.logprobs,
    top_logprobs: logprobFields.top_logprobs,
    max_tokens: stoppingFields.max_tokens,
    max_completion_tokens: stoppingFields.max_completion_tokens,
    n: nullAsDefault(laxInteger(), 1).describe('Number of choices to generate.'),
    presence_penalty: samplingFields.presence_penalty,
    response_format: structuredOutputFields.response_format,
    seed: samplingFields.seed,
    stop: stoppingFields.stop,
    stream: nullAsDefault(laxBoolean(), false).describe('Sends the answer in chunks while it is generated.'),
    stream_options: streamOptions.nullish(),
    temperature: samplingFields.temperature,
    top_p: samplingFields.top_p,
    tools: toolFields.tools,
    tool_choice: toolFields.tool_choice,
    reasoning_effort: promptFields.reasoning_effort,
    include_reasoning: promptFields.include_reasoning,
    parallel_tool_calls: nullAsDefault(laxBoolean(), true).describe(
      'Whether one answer may call several tools.',
    ),
    user: z.string().nullish().describe('Name of the end user.'),
    ...extendedFields,
    echo: promptFields.echo,
    add_generation_prompt: promptFields.add_generation_prompt,
    continue_final_message: promptFields.continue_final_message,
    add_special_tokens: promptFields.add_special_tokens,
    documents: promptFields.documents,
    chat_template: promptFields.chat_template,
    chat_template_kwargs: promptFields.chat_template_kwargs,
    mm_processor_kwargs: promptFields.mm_processor_kwargs,
    structured_outputs: structuredOutputFields.structured_outputs,
    priority: laxInteger()
      .prefault(0)
      .describe(
        'Scheduling priority; lower runs first. Only 0 is allowed unless the server schedules by priority.',
      ),
    request_id: z.string().optional().describe('Becomes part of the id of the answer. Default: a random id.'),
    return_tokens_as_token_ids: logprobFields.return_tokens_as_token_ids,
    return_token_ids: logprobFields.return_token_ids,
    cache_salt: z
      .string()
      .min(1)
      .max(MAX_CACHE_SALT_LENGTH)
      .nullish()
      .describe(
        'Prefix caching: requests share cached prompts only with requests of the same salt. Best long and random.',
      ),
    kv_transfer_params: boundedRecord(z.unknown(), MAX_NAMED_VALUES)
      .nullish()
      .describe('KV cache transfer parameters of disaggregated serving.'),
    engine_xargs: extraArguments.describe(
      'Arguments of custom extensions: texts, numbers, or lists of them.',
    ),
    vllm_xargs: extraArguments.describe('Other name of `engine_xargs`.').meta({ deprecated: true }),
    ...latestFields,
    ...removedConstraintFields,
    ...removedToolFields,
  })
  .check(context => {
    const request = context.value;
    checkTopLogprobs(context);
    checkSharedRules(context);
    if (request.continue_final_message && request.add_generation_prompt) {
      reportRule(
        context,
        'continue_final_message',
        'continue_final_message needs add_generation_prompt: false, which is true unless it is given',
      );
    }
    for (const key of ['chat_template', 'tokenize']) {
      if (request.chat_template_kwargs && Object.hasOwn(request.chat_template_kwargs, key)) {
        reportRule(
          context,
          ['chat_template_kwargs', key],
          `chat_template_kwargs must not have the key ${key}`,
        );
      }
    }
  });
/** The parsed request: defaults filled in, values converted. */
export type ChatCompletionRequest = z.output<typeof chatCompletionRequest>;
/** The request as clients write it: every field but `messages` is optional. */
export type ChatCompletionRequestInput = z.input<typeof chatCompletionRequest>;

function checkTopLogprobs(context: z.core.ParsePayload<{ logprobs: boolean; top_logprobs: number }>): void {
  const { logprobs, top_logprobs } = context.value;
  if (top_logprobs < -1) {
    reportRule(context, 'top_logprobs', `top_logprobs must be -1, 0 or above; got ${top_logprobs}`);
  } else if (top_logprobs !== 0 && !logprobs) {
    reportRule(context, 'top_logprobs', 'top_logprobs needs logprobs: true');
  }
}

export const chatCompletionRequestExamples = {
  valid: [
    { messages: FRANCE },
    { model: 'demo', messages: FRANCE, stream: true, stream_options: { include_usage: true } },
    { messages: FRANCE, temperature: 0, max_completion_tokens: 16, stop: ['\n'] },
    { messages: FRANCE, seed: 42, n: 2, logprobs: true, top_logprobs: 3 },
    { messages: FRANCE, structured_outputs: { choice: ['Paris', 'Rome'] }, guided_choice: null },
    {
      messages: FRANCE,
      response_format: { json_schema: { name: 'answer', schema: { type: 'object' }, strict: true } },
    },
  ],
  invalid: [
    { input: {}, type: 'missing', loc: ['messages'] },
    { input: { messages: [] }, type: 'too_short', loc: ['messages'] },
    { input: { messages: FRANCE, temperature: 'hot' }, type: 'float_parsing', loc: ['temperature'] },
    { input: { messages: FRANCE, n: 1.5 }, type: 'int_from_float', loc: ['n'] },
    { input: { messages: FRANCE, stream: 2 }, type: 'bool_parsing', loc: ['stream'] },
    { input: { messages: FRANCE, user: 5 }, type: 'string_type', loc: ['user'] },
    { input: { messages: FRANCE, seed: 1e30 }, type: 'less_than_equal', loc: ['seed'] },
    { input: { messages: FRANCE, tool_choice: 'always' }, type: 'literal_error', loc: ['tool_choice'] },
    { input: { messages: FRANCE, tools: [] }, type: 'too_short', loc: ['tools'] },
    { input: { messages: FRANCE, guided_json: {} }, type: 'value_error', loc: ['guided_json'] },
    { input: { messages: FRANCE, functions: [] }, type: 'value_error', loc: ['functions'] },
    { input: { messages: FRANCE, top_logprobs: 2 }, type: 'value_error', loc: ['top_logprobs'] },
    {
      input: { messages: FRANCE, engine_xargs: { a: { b: 1 } } },
      type: 'string_type',
      loc: ['engine_xargs', 'a'],
    },
  ],
} as const;
