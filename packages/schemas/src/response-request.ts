// Body of POST /v1/responses, in the order of OpenAI's reference, then fields that other servers of open models have in
// addition. Unknown keys are accepted and dropped, as in a chat request; OpenAI's own keys without an implementation here
// are refused by name in the api.

import { z } from 'zod';
import { boundedRecord } from './bounded-collections.ts';
import { MAX_CACHE_SALT_LENGTH } from './chat-completion-request.ts';
import { promptFields } from './chat-prompt.ts';
import { extendedFields, latestFields, samplingFields, stoppingFields } from './chat-sampling.ts';
import { structuredOutputFields } from './chat-structured-output.ts';
import { laxBoolean, laxInteger, nullAsDefault, reportRule } from './lax-primitives.ts';
import { movedToResponseFields, removedConstraintFields } from './removed-fields.ts';
import { responseInput } from './response-item.ts';
import { responseToolFields } from './response-tools.ts';

/** Maximum number of keys of `metadata`. Source: OpenAI's reference. */
const MAX_METADATA_COUNT = 16;

/** The `include` values that exist here. */
export const RESPONSE_INCLUDES = ['message.output_text.logprobs', 'reasoning.encrypted_content'] as const;

/** The `text.format` field. */
export const responseTextFormat = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text').describe('No constraint.') }),
    z.object({ type: z.literal('json_object').describe('The output is one JSON object.') }),
    z.object({
      type: z.literal('json_schema').describe('The output is JSON that satisfies the schema.'),
      name: z.string().describe('Name of the schema.'),
      description: z.string().nullish().describe('Purpose of the schema. It has no effect.'),
      schema: z.record(z.string(), z.unknown()).describe('JSON Schema that the output must satisfy.'),
      strict: laxBoolean()
        .nullish()
        .describe('True: keywords that cannot be enforced are refused, and objects are closed.'),
    }),
  ])
  .describe('Shape of the text.');
export type ResponseTextFormat = z.output<typeof responseTextFormat>;

const reasoning = z.object({
  effort: z
    .enum(['none', 'low', 'medium', 'high'])
    .nullish()
    .describe(
      'Reasoning effort, passed to the chat template. `none` turns thinking off where that is a switch.',
    ),
  summary: z
    .enum(['auto', 'detailed'])
    .nullish()
    .describe('Gives the text of the reasoning as its summary. Default: as its content.'),
  generate_summary: z.enum(['auto', 'detailed']).nullish().describe('Older name of `summary`.'),
});

/** A field of OpenAI's that has no implementation here: null, or left out. */
function refused(why: string) {
  return z
    .null({ error: `Not supported: ${why}` })
    .optional()
    .describe(`Refused: ${why}.`);
}

const QUESTION = 'What is the capital of France?';

/** The request. */
export const responseRequest = z
  .object({
    access_programs: refused('there are no access programs'),
    background: laxBoolean().nullish().describe('Only false: answers are not made in the background.'),
    background_options: refused('answers are not made in the background; use stream'),
    context_management: refused('the context is not managed; see `truncation`'),
    conversation: z.unknown().optional().describe('Refused: there are no conversation objects.'),
    image: refused('models here read text only'),
    include: z
      .array(z.enum(RESPONSE_INCLUDES))
      .nullish()
      .describe(
        '`message.output_text.logprobs` adds log probabilities. `reasoning.encrypted_content` has no effect: reasoning is given as text.',
      ),
    input: responseInput,
    instructions: z.string().nullish().describe('A system message before the input.'),
    max_output_tokens: laxInteger()
      .nullish()
      .describe(
        'Maximum number of tokens to generate, reasoning included. Default: the rest of the context.',
      ),
    max_tool_calls: laxInteger()
      .nullish()
      .describe(
        'Accepted without effect: it counts calls of tools that run on the server, of which there are none.',
      ),
    metadata: boundedRecord(z.string(), MAX_METADATA_COUNT)
      .nullish()
      .describe('Texts by name, which the answer repeats.'),
    model: z.string().nullish().describe('Id from the model list. Default: the server’s first model.'),
    moderation: refused('nothing is moderated'),
    parallel_tool_calls: nullAsDefault(laxBoolean(), true).describe(
      'Whether one answer may call several tools.',
    ),
    previous_response_id: z
      .string()
      .nullish()
      .describe(
        'Continues a stored response: its items and those before it come before the input. Its instructions do not.',
      ),
    prompt: z.unknown().optional().describe('Refused: there are no stored prompts.'),
    prompt_cache_key: z
      .string()
      .nullish()
      .describe('Accepted without effect: cached prompts are found by their content.'),
    prompt_cache_options: z
      .object({ mode: z.literal('implicit').nullish(), ttl: z.null().optional() })
      .nullish()
      .describe('Only `mode: implicit`, which is how prompts are cached: without breakpoints and lifetimes.'),
    prompt_cache_retention: z
      .enum(['in_memory', '24h'])
      .nullish()
      .describe('Accepted without effect: the longest retention, and cached prompts are in memory only.'),
    reasoning: reasoning.nullish().describe('Options of reasoning models.'),
    safety_identifier: z
      .string()
      .nullish()
      .describe('Accepted without effect: it names an end user for records that are not kept.'),
    service_tier: z.enum(['auto', 'default']).nullish().describe('There are no other tiers.'),
    store: laxBoolean()
      .nullish()
      .describe(
        'Stores the response, so that others can continue it. Default: true on a server that stores responses.',
      ),
    stream: nullAsDefault(laxBoolean(), false).describe('Sends events while the answer is generated.'),
    stream_options: z
      .object({ include_obfuscation: z.literal(false).nullish().describe('Only false: there is none.') })
      .nullish()
      .describe('Only with `stream: true`.'),
    temperature: samplingFields.temperature,
    text: z
      .object({
        format: responseTextFormat.nullish(),
        verbosity: z.literal('medium').nullish().describe('Only `medium`: models have no such setting.'),
      })
      .nullish()
      .describe('Form of the text.'),
    ...responseToolFields,
    top_logprobs: laxInteger({ minimum: 0 })
      .nullish()
      .describe(
        'Number of most probable tokens to list at each position, at most 20. Adds log probabilities.',
      ),
    top_p: samplingFields.top_p,
    truncation: z
      .enum(['auto', 'disabled'])
      .nullish()
      .describe(
        '`auto` drops the beginning of a prompt that is too long. Default: such a prompt is refused.',
      ),
    user: z.string().nullish().describe('Older name of `safety_identifier`.'),
    frequency_penalty: samplingFields.frequency_penalty,
    presence_penalty: samplingFields.presence_penalty,
    repetition_penalty: extendedFields.repetition_penalty,
    top_k: extendedFields.top_k,
    min_p: extendedFields.min_p,
    seed: samplingFields.seed,
    logit_bias: samplingFields.logit_bias,
    allowed_token_ids: extendedFields.allowed_token_ids,
    bad_words: extendedFields.bad_words,
    stop: stoppingFields.stop,
    stop_token_ids: extendedFields.stop_token_ids,
    include_stop_str_in_output: extendedFields.include_stop_str_in_output,
    ignore_eos: extendedFields.ignore_eos,
    min_tokens: extendedFields.min_tokens,
    skip_special_tokens: extendedFields.skip_special_tokens,
    structured_outputs: structuredOutputFields.structured_outputs,
    chat_template_kwargs: promptFields.chat_template_kwargs,
    cache_salt: z.string().min(1).max(MAX_CACHE_SALT_LENGTH).nullish().describe('As in a chat request.'),
    priority: laxInteger().prefault(0).describe('As in a chat request.'),
    ...latestFields,
    ...movedToResponseFields,
    ...removedConstraintFields,
  })
  .check(context => {
    const { background, conversation, prompt, reasoning, stream, stream_options } = context.value;
    if (background) reportRule(context, 'background', 'Answers are not made in the background; use stream');
    if (conversation != null)
      reportRule(context, 'conversation', 'There are no conversation objects; send the items as input');
    if (prompt != null)
      reportRule(context, 'prompt', 'There are no stored prompts; send the text as instructions and input');
    if (stream_options && Object.keys(stream_options).length > 0 && !stream)
      reportRule(context, 'stream_options', 'stream_options needs stream: true');
    if (reasoning?.summary && reasoning.generate_summary)
      reportRule(
        context,
        ['reasoning', 'generate_summary'],
        'generate_summary is another name of summary; give only one of them',
      );
  });
/** The parsed request: defaults filled in, values converted. */
export type ResponseRequest = z.output<typeof responseRequest>;
/** The request as clients write it: every field but `input` is optional. */
export type ResponseRequestInput = z.input<typeof responseRequest>;

export const responseRequestExamples = {
  valid: [
    { input: QUESTION },
    { model: 'demo', input: QUESTION, instructions: 'Answer in one word.', stream: true },
    { input: [{ role: 'user', content: QUESTION }], temperature: 0, max_output_tokens: 16, store: false },
    {
      input: QUESTION,
      text: { format: { type: 'json_schema', name: 'city', schema: { type: 'object' }, strict: true } },
    },
    { input: QUESTION, reasoning: { effort: 'low', summary: 'auto' }, metadata: { topic: 'cities' } },
  ],
  invalid: [
    { input: {}, type: 'missing', loc: ['input'] },
    { input: { input: [] }, type: 'too_short', loc: ['input'] },
    { input: { input: 5 }, type: 'string_type', loc: ['input'] },
    { input: { input: 'x', conversation: 'conv_1' }, type: 'value_error', loc: ['conversation'] },
    { input: { input: 'x', max_completion_tokens: 5 }, type: 'value_error', loc: ['max_completion_tokens'] },
    {
      input: { input: 'x', response_format: { type: 'text' } },
      type: 'value_error',
      loc: ['response_format'],
    },
    { input: { input: 'x', guided_regex: 'a' }, type: 'value_error', loc: ['guided_regex'] },
    { input: { input: 'x', top_logprobs: -1 }, type: 'greater_than_equal', loc: ['top_logprobs'] },
    { input: { input: 'x', service_tier: 'flex' }, type: 'literal_error', loc: ['service_tier'] },
    {
      input: { input: 'x', text: { format: { type: 'yaml' } } },
      type: 'literal_error',
      loc: ['text', 'format', 'type'],
    },
    {
      input: { input: 'x', stream_options: { include_obfuscation: false } },
      type: 'value_error',
      loc: ['stream_options'],
    },
    {
      input: { input: 'x', include: ['file_search_call.results'] },
      type: 'literal_error',
      loc: ['include', '0'],
    },
  ],
} as const;
