import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { chatCompletionRequest } from './chat-completion-request.ts';
import { MAX_MESSAGE_COUNT } from './chat-prompt.ts';
import { structuredOutputs } from './chat-structured-output.ts';
import { toChatValidationError } from './error.ts';
import { chatChoice, chatCompletion, responseMessage } from './index.ts';
import { removedConstraintFields, removedToolFields } from './removed-fields.ts';
import { toValidationDetails } from './validation-error.ts';

const MESSAGES = [{ role: 'user', content: 'hi' }];

/** Field -> may it be null. In the order of the published table. */
const FIELDS: [string, boolean][] = [
  ['messages', false],
  ['model', true],
  ['frequency_penalty', true],
  ['logit_bias', true],
  ['logprobs', true],
  ['top_logprobs', true],
  ['max_tokens', true],
  ['max_completion_tokens', true],
  ['n', true],
  ['presence_penalty', true],
  ['response_format', true],
  ['seed', true],
  ['stop', true],
  ['stream', true],
  ['stream_options', true],
  ['temperature', true],
  ['top_p', true],
  ['tools', true],
  ['tool_choice', true],
  ['reasoning_effort', true],
  ['include_reasoning', false],
  ['parallel_tool_calls', true],
  ['user', true],
  ['use_beam_search', false],
  ['top_k', true],
  ['min_p', true],
  ['repetition_penalty', true],
  ['length_penalty', false],
  ['stop_token_ids', true],
  ['include_stop_str_in_output', false],
  ['ignore_eos', false],
  ['min_tokens', false],
  ['skip_special_tokens', false],
  ['spaces_between_special_tokens', false],
  ['truncate_prompt_tokens', true],
  ['prompt_logprobs', true],
  ['allowed_token_ids', true],
  ['bad_words', false],
  ['echo', false],
  ['add_generation_prompt', false],
  ['continue_final_message', false],
  ['add_special_tokens', false],
  ['documents', true],
  ['chat_template', true],
  ['chat_template_kwargs', true],
  ['mm_processor_kwargs', true],
  ['structured_outputs', true],
  ['priority', false],
  ['request_id', false],
  ['return_tokens_as_token_ids', true],
  ['return_token_ids', true],
  ['cache_salt', true],
  ['kv_transfer_params', true],
  ['engine_xargs', true],
  ['repetition_detection', true],
];

const DEFAULTS = {
  logprobs: false,
  top_logprobs: 0,
  n: 1,
  stop: [],
  stream: false,
  include_reasoning: true,
  parallel_tool_calls: true,
  use_beam_search: false,
  length_penalty: 1,
  include_stop_str_in_output: false,
  ignore_eos: false,
  min_tokens: 0,
  skip_special_tokens: true,
  spaces_between_special_tokens: true,
  bad_words: [],
  echo: false,
  add_generation_prompt: true,
  continue_final_message: false,
  add_special_tokens: false,
  priority: 0,
};

function faults(fields: Record<string, unknown>) {
  const input = { messages: MESSAGES, ...fields };
  const result = chatCompletionRequest.safeParse(input);
  return result.success ? [] : toValidationDetails(result.error, 'body', input);
}

describe('chatCompletionRequest', () => {
  it('has the published fields in the published order, one alias, and fields of older clients', () => {
    const names = FIELDS.map(([field]) => field);
    names.splice(names.indexOf('repetition_detection'), 0, 'vllm_xargs');
    expect(Object.keys(chatCompletionRequest.shape)).toEqual([
      ...names,
      ...Object.keys(removedConstraintFields),
      ...Object.keys(removedToolFields),
    ]);
  });

  it.each(FIELDS)('%s may be null: %s', (field, nullable) => {
    const found = faults({ [field]: null });
    if (nullable) expect(found).toEqual([]);
    else expect(found[0]).toMatchObject({ loc: ['body', field] });
  });

  it('fills exactly the published defaults', () => {
    expect(chatCompletionRequest.parse({ messages: MESSAGES })).toEqual({ messages: MESSAGES, ...DEFAULTS });
  });

  it('takes null for the default where a default exists', () => {
    const nulls = Object.fromEntries(
      Object.keys(DEFAULTS)
        .filter(field => FIELDS.some(([name, nullable]) => name === field && nullable))
        .map(field => [field, null]),
    );
    expect(Object.keys(nulls)).toHaveLength(6);
    expect(chatCompletionRequest.parse({ messages: MESSAGES, ...nulls })).toEqual({
      messages: MESSAGES,
      ...DEFAULTS,
    });
  });

  it('shows its defaults in documents', () => {
    const { properties = {}, required } = z.toJSONSchema(chatCompletionRequest, { io: 'input' });
    const shown = Object.entries(properties).flatMap(([field, schema]) =>
      typeof schema === 'object' && 'default' in schema ? [[field, schema.default]] : [],
    );
    expect(Object.fromEntries(shown)).toEqual(DEFAULTS);
    expect(required).toEqual(['messages']);
  });

  it('describes every field', () => {
    const { properties = {} } = z.toJSONSchema(chatCompletionRequest, { io: 'input' });
    const silent = Object.entries(properties).filter(
      ([, schema]) => !JSON.stringify(schema).includes('"description"'),
    );
    expect(silent.map(([field]) => field)).toEqual([]);
  });

  it.each(Object.keys(removedConstraintFields))('refuses %s by name, with the field to use', field => {
    const [fault] = faults({ [field]: 'x' });
    const replacement = field.replace('guided_', 'structured_outputs.');
    expect(fault).toMatchObject({
      loc: ['body', field],
      msg: `${field} is not supported; use ${replacement}`,
    });
  });

  it.each([
    ['functions', [{ name: 'f' }], 'tools'],
    ['function_call', 'auto', 'tool_choice'],
  ])('refuses %s by name, with the field to use', (field, value, replacement) => {
    expect(faults({ [field]: value })).toMatchObject([
      { loc: ['body', field], msg: `${field} is not supported; use ${replacement}` },
    ]);
    expect(faults({ [field]: null })).toEqual([]);
  });

  it('drops unknown fields at every level', () => {
    const parsed = chatCompletionRequest.parse({
      messages: MESSAGES,
      foo: 1,
      repetition_detection: { bar: 2 },
    });
    expect(parsed).not.toHaveProperty('foo');
    expect(parsed.repetition_detection).not.toHaveProperty('bar');
  });

  it('takes a stop as a text or a list of texts', () => {
    expect(chatCompletionRequest.parse({ messages: MESSAGES, stop: 'x' }).stop).toEqual(['x']);
    expect(chatCompletionRequest.parse({ messages: MESSAGES, stop: ['x', ''] }).stop).toEqual(['x', '']);
    expect(faults({ stop: [1] })).toMatchObject([{ type: 'string_type', loc: ['body', 'stop', '0'] }]);
    expect(faults({ stop: 1 })).toEqual([
      { loc: ['body', 'stop'], type: 'string_type', msg: 'Input should be a valid string or a valid list' },
    ]);
  });

  it.each([
    [42, 42],
    [-1, -1],
    ['7', 7],
    [9223372036854775807n, 9223372036854775807n],
    [2 ** 63, 9223372036854775808n],
    [9223372036854776000n, 9223372036854776000n],
    [-9223372036854776000n, -9223372036854776000n],
  ])('takes the seed %s', (seed, parsed) => {
    expect(chatCompletionRequest.parse({ messages: MESSAGES, seed }).seed).toBe(parsed);
  });

  it.each([9223372036854776001n, 2 ** 64, 1e30, -1e30, 0.5, 'x', []])('refuses the seed %s', seed => {
    expect(faults({ seed })).toMatchObject([{ loc: ['body', 'seed'] }]);
  });

  it.each([
    [-2, false],
    [-1, true],
    [0, true],
    [9223372036854775807n, true],
    [9223372036854776001n, false],
  ])('truncate_prompt_tokens %s is in range: %s', (value, isValid) => {
    expect(faults({ truncate_prompt_tokens: value }).length === 0).toBe(isValid);
  });

  const RULES: [string, Record<string, unknown>, string | null][] = [
    ['top_logprobs without logprobs', { top_logprobs: 1 }, 'top_logprobs'],
    ['all top_logprobs without logprobs', { top_logprobs: -1 }, 'top_logprobs'],
    ['top_logprobs 0 without logprobs', { top_logprobs: 0 }, null],
    ['top_logprobs with logprobs', { top_logprobs: 2, logprobs: true }, null],
    ['top_logprobs below -1', { top_logprobs: -2, logprobs: true }, 'top_logprobs'],
    ['top_logprobs as text', { top_logprobs: '2', logprobs: true }, 'top_logprobs'],
    ['prompt_logprobs in a stream', { prompt_logprobs: 1, stream: true }, 'prompt_logprobs'],
    ['all prompt_logprobs in a stream', { prompt_logprobs: -1, stream: true }, 'prompt_logprobs'],
    ['prompt_logprobs 0 in a stream', { prompt_logprobs: 0, stream: true }, null],
    ['prompt_logprobs below -1', { prompt_logprobs: -2 }, 'prompt_logprobs'],
    ['prompt_logprobs as text', { prompt_logprobs: '1' }, 'prompt_logprobs'],
    ['stream_options without stream', { stream_options: { include_usage: true } }, 'stream_options'],
    ['empty stream_options without stream', { stream_options: {} }, null],
    ['stream_options with stream', { stream: true, stream_options: { include_usage: true } }, null],
    [
      'both prompt flags',
      { add_generation_prompt: true, continue_final_message: true },
      'continue_final_message',
    ],
    ['continue_final_message alone', { continue_final_message: true }, 'continue_final_message'],
    ['continue_final_message', { continue_final_message: true, add_generation_prompt: false }, null],
    ['empty cache_salt', { cache_salt: '' }, 'cache_salt'],
    ['a long cache_salt', { cache_salt: 'x'.repeat(129) }, 'cache_salt'],
    ['a base64 cache_salt', { cache_salt: `${'aB3/'.repeat(10)}+/=` }, null],
    ['nested engine_xargs', { engine_xargs: { a: { b: 1 } } }, 'engine_xargs.a'],
    ['listed engine_xargs', { engine_xargs: { a: [1, 'x'], b: 'y', c: 2 } }, null],
    ['both names of engine_xargs', { engine_xargs: {}, vllm_xargs: {} }, 'vllm_xargs'],
    [
      'repetition sizes swapped',
      { repetition_detection: { max_pattern_size: 1, min_pattern_size: 2, min_count: 3 } },
      'repetition_detection.min_pattern_size',
    ],
    [
      'a repetition count of 1',
      { repetition_detection: { max_pattern_size: 3, min_count: 1 } },
      'repetition_detection.min_count',
    ],
    [
      'a negative repetition size',
      { repetition_detection: { max_pattern_size: -1 } },
      'repetition_detection.max_pattern_size',
    ],
    ['empty repetition_detection', { repetition_detection: {} }, null],
    ['no tools', { tools: [] }, 'tools'],
    ['an unknown tool_choice', { tool_choice: 'always' }, 'tool_choice'],
    ['tool_choice auto', { tool_choice: 'auto' }, null],
    ['tool_choice of a function', { tool_choice: { type: 'function', function: { name: 'f' } } }, null],
    ['tool_choice without a name', { tool_choice: { type: 'function' } }, 'tool_choice.function'],
    ['tool_choice none', { tool_choice: 'none', tools: [{ function: { name: 'f' } }] }, null],
    ['reasoning_effort max', { reasoning_effort: 'max' }, 'reasoning_effort'],
    [
      'reserved template variable',
      { chat_template_kwargs: { tokenize: true } },
      'chat_template_kwargs.tokenize',
    ],
    ['empty structured_outputs', { structured_outputs: {} }, 'structured_outputs'],
    ['two constraints', { structured_outputs: { regex: 'a', choice: ['a'] } }, 'structured_outputs'],
    [
      'a format and a constraint',
      { response_format: { type: 'json_object' }, structured_outputs: { regex: 'a' } },
      'structured_outputs',
    ],
    [
      'a text format and a constraint',
      { response_format: { type: 'text' }, structured_outputs: { regex: 'a' } },
      null,
    ],
    ['documents of any values', { documents: [{ title: 'a', pages: 3 }] }, null],
    ['documents that are texts', { documents: ['a'] }, 'documents.0'],
    ['temperature as text', { temperature: '0.5' }, null],
    ['temperature as infinite text', { temperature: 'inf' }, 'temperature'],
  ];

  it.each(RULES)('checks %s', (_what, fields, param) => {
    const input = { messages: MESSAGES, ...fields };
    const result = chatCompletionRequest.safeParse(input);
    const found = result.success ? null : toChatValidationError(result.error, input).param;
    expect(found).toBe(param);
  });

  it('makes one error of several faults, in field order', () => {
    const input = { messages: [{ role: 'user', content: [{ type: 'text' }] }], n: 'x', stream: 3 };
    const error = toChatValidationError(chatCompletionRequest.safeParse(input).error!, input);
    expect(error).toEqual({
      message:
        'messages.0.content.0.text: Field required; ' +
        'n: Input should be a valid integer, unable to parse string as an integer; ' +
        'stream: Input should be a valid boolean, unable to interpret input',
      type: 'Bad Request',
      param: 'messages.0.content.0.text',
      code: 400,
    });
  });

  it.each([undefined, null, [], 'text', 5])('refuses the body %j with a message', input => {
    const error = toChatValidationError(chatCompletionRequest.safeParse(input).error!, input);
    expect(error).toMatchObject({ param: null, message: expect.stringMatching(/^Request body: ./) });
  });

  it('reads as many messages as it allows and lists the faults of bad ones in a short message', () => {
    const good = Array.from({ length: MAX_MESSAGE_COUNT }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: 'text', text: 'word '.repeat(20) }],
    }));
    const started = performance.now();
    expect(chatCompletionRequest.parse({ messages: good }).messages).toHaveLength(MAX_MESSAGE_COUNT);
    const bad = { messages: good.map(() => ({ role: 'user', content: [{ type: 'text' }] })) };
    const error = toChatValidationError(chatCompletionRequest.safeParse(bad).error!, bad);
    expect(error.message.length).toBeLessThan(1000);
    expect(error.message).toContain(`and ${MAX_MESSAGE_COUNT - 8} more`);
    // A few hundred milliseconds at most; the bound only catches work that grows faster than the input.
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe('chat answers', () => {
  it('have the published fields, and the position of a cut off structured output', () => {
    expect(Object.keys(chatCompletion.shape).sort()).toEqual(
      'choices created id kv_transfer_params model object prompt_logprobs prompt_token_ids service_tier system_fingerprint usage'.split(
        ' ',
      ),
    );
    expect(Object.keys(chatChoice.shape)).toEqual([
      'index',
      'message',
      'logprobs',
      'finish_reason',
      'stop_reason',
      'constraint_position',
      'token_ids',
    ]);
    expect(Object.keys(responseMessage.shape)).toEqual([
      'role',
      'content',
      'refusal',
      'annotations',
      'audio',
      'function_call',
      'tool_calls',
      'reasoning',
    ]);
  });

  it('structured_outputs has the published fields, and three of this server', () => {
    const own = ['json_whitespace', 'disable_number_limits', 'disable_repetition_guard'];
    expect(Object.keys(structuredOutputs.shape)).toEqual(expect.arrayContaining(own));
    expect(Object.keys(structuredOutputs.shape).filter(name => !own.includes(name))).toEqual([
      'json',
      'regex',
      'choice',
      'grammar',
      'json_object',
      'disable_fallback',
      'disable_any_whitespace',
      'disable_additional_properties',
      'whitespace_pattern',
      'structural_tag',
      '_backend',
      '_backend_was_auto',
    ]);
  });
});
