import { describe, expect, it } from 'vitest';
import { toGenerationRequest } from './generate-options.ts';

describe('toGenerationRequest', () => {
  it('takes a string as the question of a user', () => {
    expect(toGenerationRequest('Hello!', {})).toEqual({
      prompt: { messages: [{ role: 'user', content: 'Hello!' }] },
      sampling: {},
      stop: {},
    });
  });

  it('sorts flat options into the groups of the engine', () => {
    const template = { variables: { enable_thinking: false } };
    const messages = [{ role: 'user', content: 'Hello!' }];
    const request = toGenerationRequest(messages, {
      maxTokens: 5,
      minTokens: 2,
      stop: 'END',
      stopTokenIds: [7],
      temperature: 0,
      topK: 3,
      seed: 11n,
      template,
      badWords: ['no'],
      constraint: { regex: 'a+' },
      logprobs: { topCount: 2 },
      cachePartition: 'mine',
    });
    expect(request).toEqual({
      prompt: { messages, template },
      sampling: { temperature: 0, topK: 3, seed: 11n },
      stop: { maxTokens: 5, minTokens: 2, strings: ['END'], tokenIds: [7] },
      badWords: ['no'],
      constraint: { regex: 'a+' },
      logprobs: { topCount: 2 },
      cachePartition: 'mine',
    });
  });

  it.each(['temprature', 'max_tokens', 'ignoreEos', 'prompt', 'sampling', 'choiceCount', 'beamSearch'])(
    'refuses the option %s, which would have no effect or another one',
    name => {
      expect(() => toGenerationRequest('Hello!', { [name]: 1 } as object)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          parameter: name,
          message: expect.stringContaining('temperature, topP'),
        }),
      );
    },
  );

  it('leaves out what is undefined, so that the model’s own defaults hold', () => {
    const options = {
      temperature: undefined,
      maxTokens: undefined,
      badWords: undefined,
    } as unknown as object;
    expect(toGenerationRequest('Hello!', options)).toEqual(toGenerationRequest('Hello!', {}));
  });
});
