// Body of POST /v1/completions: a bare prompt without chat template. Fields shared with chat requests are taken from
// there, so that both have one meaning. Unknown keys are accepted and dropped.

import { z } from 'zod';
import { chatCompletionRequest } from './chat-completion-request.ts';
import { extendedFields, latestFields } from './chat-sampling.ts';
import { laxBoolean, laxInteger, laxIntegerButNoText, nullAsDefault, reportRule } from './lax-primitives.ts';
import { movedToCompletionFields, removedConstraintFields } from './removed-fields.ts';
import { checkSharedRules } from './request-rules.ts';
import { promptList } from './token-ids.ts';

const chat = chatCompletionRequest.shape;

/** The request. */
export const completionRequest = z
  .object({
    model: chat.model,
    prompt: promptList().describe(
      'Text to continue, or its token ids; a list of either gets one answer for each.',
    ),
    best_of: laxInteger().nullish().describe('Accepted only if equal to `n`, where it selects nothing.'),
    echo: nullAsDefault(laxBoolean(), false).describe(
      'Prepends the prompt to the text, and its tokens to the log probabilities.',
    ),
    frequency_penalty: chat.frequency_penalty,
    logit_bias: chat.logit_bias,
    // Text is refused, because the rule on this field applies to the JSON value.
    logprobs: laxIntegerButNoText()
      .nullish()
      .describe('Adds the log probability of every token, and of this many most probable alternatives.'),
    max_tokens: nullAsDefault(laxInteger(), 16).describe(
      'Maximum number of tokens to generate per choice. With `echo`, 0 returns the prompt alone.',
    ),
    n: chat.n,
    presence_penalty: chat.presence_penalty,
    seed: chat.seed,
    stop: chat.stop,
    stream: chat.stream,
    stream_options: chat.stream_options,
    suffix: z
      .string()
      .nullish()
      .describe('Text after the completion (fill in the middle). Refused: not supported.'),
    temperature: chat.temperature,
    top_p: chat.top_p,
    user: chat.user,
    ...extendedFields,
    add_special_tokens: laxBoolean()
      .prefault(true)
      .describe('Lets the tokenizer add its special tokens, such as BOS, to a text prompt.'),
    response_format: chat.response_format,
    structured_outputs: chat.structured_outputs,
    priority: chat.priority,
    request_id: chat.request_id,
    return_tokens_as_token_ids: chat.return_tokens_as_token_ids,
    return_token_ids: chat.return_token_ids,
    cache_salt: chat.cache_salt,
    kv_transfer_params: chat.kv_transfer_params,
    engine_xargs: chat.engine_xargs,
    vllm_xargs: chat.vllm_xargs,
    ...latestFields,
    ...movedToCompletionFields,
    ...removedConstraintFields,
  })
  .check(context => {
    checkSharedRules(context);
    const { logprobs } = context.value;
    if (logprobs != null && logprobs < 0) {
      reportRule(context, 'logprobs', `logprobs must be 0 or above; got ${logprobs}`);
    }
  });
/** The parsed request: defaults filled in, values converted, one prompt as a list of one. */
export type CompletionRequest = z.output<typeof completionRequest>;
/** The request as clients write it: every field but `prompt` is optional. */
export type CompletionRequestInput = z.input<typeof completionRequest>;

const FRANCE = 'The capital of France is';

export const completionRequestExamples = {
  valid: [
    { prompt: FRANCE },
    { model: 'demo', prompt: [FRANCE, 'Two and two are'], max_tokens: 8, temperature: 0 },
    { prompt: [1, 2, 3], echo: true, logprobs: 2, max_tokens: 0 },
    { prompt: [[1, 2], [3]], n: 2, seed: 7, stream: true, stream_options: { include_usage: true } },
  ],
  invalid: [
    { input: {}, type: 'missing', loc: ['prompt'] },
    { input: { prompt: null }, type: 'string_type', loc: ['prompt'] },
    { input: { prompt: '' }, type: 'string_too_short', loc: ['prompt'] },
    { input: { prompt: [] }, type: 'too_short', loc: ['prompt'] },
    { input: { prompt: ['a', 1] }, type: 'string_type', loc: ['prompt', '1'] },
    { input: { prompt: [1, 'a'] }, type: 'int_type', loc: ['prompt', '1'] },
    { input: { prompt: [[1], 2] }, type: 'list_type', loc: ['prompt', '1'] },
    { input: { prompt: [[1, 1.5]] }, type: 'int_from_float', loc: ['prompt', '0', '1'] },
    { input: { prompt: FRANCE, guided_regex: 'a' }, type: 'value_error', loc: ['guided_regex'] },
    {
      input: { prompt: FRANCE, max_completion_tokens: 5 },
      type: 'value_error',
      loc: ['max_completion_tokens'],
    },
    { input: { prompt: FRANCE, logprobs: -1 }, type: 'value_error', loc: ['logprobs'] },
    {
      input: { prompt: FRANCE, stream_options: { include_usage: true } },
      type: 'value_error',
      loc: ['stream_options'],
    },
  ],
} as const;
