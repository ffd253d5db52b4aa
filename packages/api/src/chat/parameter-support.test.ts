import { chatCompletionRequest } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors.ts';
import { PARAMETER_SUPPORT, refuseUnsupportedParameters } from './unsupported-parameters.ts';

const messages = [{ role: 'user', content: 'hi' }];

function refusedParam(fields: object): string | null | undefined {
  try {
    refuseUnsupportedParameters(chatCompletionRequest.parse({ messages, ...fields }));
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'unsupported_parameter') return error.param;
    throw error;
  }
  return undefined;
}

describe('refuseUnsupportedParameters', () => {
  it('has a row for every field of the schema and for nothing else', () => {
    expect(Object.keys(PARAMETER_SUPPORT).sort()).toEqual(Object.keys(chatCompletionRequest.shape).sort());
  });

  it('accepts a request that leaves everything out', () => {
    expect(refusedParam({})).toBeUndefined();
  });

  it.each([
    { logprobs: false, top_logprobs: 0 },
    { logprobs: null, top_logprobs: null },
    { prompt_logprobs: null },
    { frequency_penalty: 0, presence_penalty: null, repetition_penalty: 1 },
    { logit_bias: {}, bad_words: [], allowed_token_ids: null },
    { use_beam_search: false, length_penalty: 0.5 },
    { repetition_detection: {} },
    { response_format: { type: 'text' } },
    { response_format: null, structured_outputs: null },
    { echo: false, continue_final_message: false, add_special_tokens: false },
    { chat_template: '{{ messages }}', truncate_prompt_tokens: null, spaces_between_special_tokens: true },
    { priority: 0, cache_salt: 'x' },
    { include_reasoning: false, parallel_tool_calls: false, user: 'u' },
    { mm_processor_kwargs: { a: 1 }, kv_transfer_params: { a: 1 }, engine_xargs: { a: [1, 'x'] } },
  ])('accepts %j', fields => {
    expect(refusedParam(fields)).toBeUndefined();
  });

  it.each([
    ['logprobs', { logprobs: true }],
    ['prompt_logprobs', { prompt_logprobs: 0 }],
    ['frequency_penalty', { frequency_penalty: 0.1 }],
    ['presence_penalty', { presence_penalty: -1 }],
    ['repetition_penalty', { repetition_penalty: 1.1 }],
    ['logit_bias', { logit_bias: { 1: 5 } }],
    ['bad_words', { bad_words: ['x'] }],
    ['allowed_token_ids', { allowed_token_ids: [1] }],
    ['use_beam_search', { use_beam_search: true }],
    [
      'repetition_detection',
      { repetition_detection: { max_pattern_size: 2, min_pattern_size: 1, min_count: 2 } },
    ],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['structured_outputs', { structured_outputs: { regex: 'a' } }],
    ['echo', { echo: true }],
    ['continue_final_message', { continue_final_message: true, add_generation_prompt: false }],
    ['add_special_tokens', { add_special_tokens: true }],
    ['truncate_prompt_tokens', { truncate_prompt_tokens: -1 }],
    ['spaces_between_special_tokens', { spaces_between_special_tokens: false }],
    ['priority', { priority: 1 }],
  ])('refuses %s by name when it would change the answer', (param, fields) => {
    expect(refusedParam(fields)).toBe(param);
  });
});
