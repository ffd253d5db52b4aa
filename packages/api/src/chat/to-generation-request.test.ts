import type { ChatPrompt } from '@ortler/engine';
import { chatCompletionRequest } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { toGenerationRequest } from './to-generation-request.ts';

const messages = [{ role: 'user', content: 'hi' }];
const map = (fields: object) =>
  toGenerationRequest(chatCompletionRequest.parse({ messages, ...fields }), messages, 'p');

it('leaves every default to the engine when only messages are given', () => {
  expect(map({})).toEqual({
    prompt: {
      messages: [{ role: 'user', content: 'hi' }],
      template: { addGenerationPrompt: true, variables: {} },
    },
    sampling: {},
    stop: { strings: [], includeInOutput: false, ignoreEos: false, minTokens: 0 },
    choiceCount: 1,
    badWords: [],
    skipSpecialTokens: true,
    cachePartition: 'p',
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

it('leaves penalties that are null or absent to what the model recommends', () => {
  expect(map({ frequency_penalty: null, presence_penalty: null }).sampling).toEqual({});
  expect(map({}).sampling).toEqual({});
});

it('asks for thinking together with an effort, unless the caller says otherwise', () => {
  const variables = (fields: object) => {
    const { prompt } = map(fields);
    return (prompt as ChatPrompt).template?.variables;
  };
  expect(variables({ reasoning_effort: 'high' })).toEqual({
    reasoning_effort: 'high',
    enable_thinking: true,
  });
  expect(variables({ reasoning_effort: null })).toEqual({});
});

it.each<[object, object]>([
  [{ frequency_penalty: 1 }, { sampling: { frequencyPenalty: 1 } }],
  [{ presence_penalty: -1 }, { sampling: { presencePenalty: -1 } }],
  // Said is said, also against what the model recommends.
  [{ frequency_penalty: 0, presence_penalty: 0 }, { sampling: { frequencyPenalty: 0, presencePenalty: 0 } }],
  [{ repetition_penalty: 1.2 }, { sampling: { repetitionPenalty: 1.2 } }],
  [{ allowed_token_ids: [4] }, { sampling: { allowedTokenIds: [4] } }],
  [{ allowed_token_ids: [] }, { sampling: { allowedTokenIds: [] } }],
  [
    { logit_bias: { 7: -3.5, ' 8 ': 1 } },
    {
      sampling: {
        logitBias: [
          { tokenId: 7, bias: -3.5 },
          { tokenId: 8, bias: 1 },
        ],
      },
    },
  ],
  [{ bad_words: ['a', ''] }, { badWords: ['a', ''] }],
  [{ logprobs: true }, { logprobs: { topCount: 0 } }],
  [{ logprobs: true, top_logprobs: 3 }, { logprobs: { topCount: 3 } }],
  [{ prompt_logprobs: 0 }, { promptLogprobs: { topCount: 0 } }],
  [
    { repetition_detection: { max_pattern_size: 3, min_count: 2 } },
    { repetitionDetection: { minPatternSize: 0, maxPatternSize: 3, minCount: 2 } },
  ],
  [{ use_beam_search: true, n: 3, length_penalty: 0.5 }, { beamSearch: { width: 3, lengthPenalty: 0.5 } }],
  [{ truncate_prompt_tokens: -1 }, { truncatePromptTokens: -1 }],
  [{ priority: -5 }, { priority: -5 }],
  [{ skip_special_tokens: false }, { skipSpecialTokens: false }],
  [{ add_special_tokens: true }, { prompt: { template: { addSpecialTokens: true } } }],
  [
    { continue_final_message: true, add_generation_prompt: false },
    { prompt: { template: { continueFinalMessage: true, addGenerationPrompt: false } } },
  ],
])('maps %j', (fields, expected) => {
  expect(map(fields)).toMatchObject(expected);
});

it.each([{ logit_bias: { abc: 1 } }, { logit_bias: { '1.5': 1 } }, { logit_bias: { '': 1 } }])(
  'refuses %j by name',
  fields => {
    expect(() => map(fields)).toThrow(
      expect.objectContaining({ reason: 'invalid_parameter', param: 'logit_bias' }),
    );
  },
);

it.each<[object, object | undefined]>([
  [{ echo: true }, { topCount: 0 }],
  [{ echo: true, logprobs: true, top_logprobs: 2 }, { topCount: 2 }],
  [{ echo: true, prompt_logprobs: 1 }, { topCount: 1 }],
  [{ echo: true, stream: true }, undefined],
  [{ echo: true, use_beam_search: true }, undefined],
  [{ prompt_logprobs: 0, stream: true }, undefined],
  [{ prompt_logprobs: 1, use_beam_search: true }, undefined],
])('asks for the probabilities of the prompt with %j: %j', (fields, expected) => {
  expect(map(fields).promptLogprobs).toEqual(expected);
});

it('leaves out settings that are off', () => {
  const off = {
    repetition_detection: {},
    priority: 0,
    use_beam_search: false,
    bad_words: [],
    logit_bias: null,
  };
  expect(map(off)).toEqual(map({}));
});

it('counts a truncation past what a number can say as a very long one', () => {
  expect(map({ truncate_prompt_tokens: 9223372036854775807n }).truncatePromptTokens).toBe(2 ** 63);
});
