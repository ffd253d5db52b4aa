import { chatCompletionRequest } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors.ts';
import { describeSupport, PARAMETER_SUPPORT, refuseUnsupportedParameters } from './parameter-support.ts';

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
    { response_format: { type: 'text' } },
    { response_format: null, structured_outputs: null },
    { parallel_tool_calls: false, user: 'u', spaces_between_special_tokens: false },
    { mm_processor_kwargs: { a: 1 }, kv_transfer_params: { a: 1 }, engine_xargs: { a: [1, 'x'] } },
    { vllm_xargs: { a: 1 } },
  ])('accepts %j', fields => {
    expect(refusedParam(fields)).toBeUndefined();
  });

  it.each([
    ['response_format', { response_format: { type: 'json_object' } }],
    ['structured_outputs', { structured_outputs: { regex: 'a' } }],
  ])('refuses %s by name when it would change the answer', (param, fields) => {
    expect(refusedParam(fields)).toBe(param);
  });
});

describe('describeSupport', () => {
  it('tells why a field has no effect, what of a field is served, and nothing else', () => {
    expect(describeSupport('user')).toMatch(/^Accepted without effect: .+\.$/);
    expect(describeSupport('response_format')).toBe('Not supported yet: only {"type": "text"} is accepted.');
    expect(describeSupport('temperature')).toBeNull();
    expect(describeSupport('no_such_field')).toBeNull();
  });
});
