import { chatCompletionRequest } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { toGenerationRequest } from './to-generation-request.ts';

const messages = [{ role: 'user', content: 'hi' }];
const map = (fields: object) => toGenerationRequest(chatCompletionRequest.parse({ messages, ...fields }));

it('leaves every default to the engine when only messages are given', () => {
  expect(map({})).toEqual({
    prompt: {
      kind: 'chat',
      messages: [{ role: 'user', content: 'hi' }],
      template: { addGenerationPrompt: true, variables: {} },
    },
    sampling: {},
    stop: { strings: [], includeInOutput: false, ignoreEos: false, minTokens: 0 },
    choiceCount: 1,
    skipSpecialTokens: true,
  });
});

it('maps every sampling field, and null to absent', () => {
  const sampling = { temperature: 0.5, top_p: 0.9, top_k: 5, min_p: 0.1, seed: 7 };
  expect(map(sampling).sampling).toEqual({ temperature: 0.5, topP: 0.9, topK: 5, minP: 0.1, seed: 7n });
  const nulls = Object.fromEntries(Object.keys(sampling).map(field => [field, null]));
  expect(map(nulls).sampling).toEqual({});
});

it('reads -1 as off for top_k and as no seed for seed', () => {
  expect(map({ top_k: -1, seed: -1 }).sampling).toEqual({ topK: 0 });
});

it('keeps every digit of a seed and clamps only what lies just past int64', () => {
  expect(map({ seed: 9007199254740993n }).sampling?.seed).toBe(9007199254740993n);
  expect(map({ seed: 2n ** 63n }).sampling?.seed).toBe(2n ** 63n - 1n);
  expect(map({ seed: -9223372036854776000n }).sampling?.seed).toBe(-(2n ** 63n));
});

it('prefers max_completion_tokens to max_tokens', () => {
  expect(map({ max_tokens: 5 }).stop?.maxTokens).toBe(5);
  expect(map({ max_tokens: 5, max_completion_tokens: 2 }).stop?.maxTokens).toBe(2);
});

it('maps the stop conditions', () => {
  const request = map({
    stop: 'x',
    stop_token_ids: [3],
    include_stop_str_in_output: true,
    ignore_eos: true,
    min_tokens: 2,
  });
  expect(request.stop).toEqual({
    strings: ['x'],
    tokenIds: [3],
    includeInOutput: true,
    ignoreEos: true,
    minTokens: 2,
  });
});

it('gives the template tools, documents and reasoning effort, over variables of the same name', () => {
  const { prompt } = map({
    tools: [{ function: { name: 'f' } }],
    documents: [{ text: 'd' }],
    reasoning_effort: 'low',
    chat_template: 'T',
    chat_template_kwargs: { documents: 'lost', add_generation_prompt: false, enable_thinking: false },
  });
  expect(prompt).toMatchObject({
    template: {
      addGenerationPrompt: true,
      template: 'T',
      tools: [{ type: 'function', function: { name: 'f', description: null, parameters: null } }],
      variables: { documents: [{ text: 'd' }], reasoning_effort: 'low', enable_thinking: false },
    },
  });
  expect(prompt).not.toHaveProperty('template.variables.add_generation_prompt');
});
