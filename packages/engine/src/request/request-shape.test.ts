import { describe, expect, it } from 'vitest';
import type { GenerationRequest } from './generation-request.ts';
import { validateGenerationRequest } from './validate-generation-request.ts';

const limits = {
  vocabSize: 100,
  contextLength: 64,
  samplingDefaults: {},
  eosTokenIds: [7],
  mainEosTokenId: 7,
};
const messages = [{ role: 'user', content: 'Hi' }];

/** As a caller without TypeScript gives it. */
const validate = (request: unknown) => validateGenerationRequest(request as GenerationRequest, limits);

describe('a request from a caller without types', () => {
  const cases: readonly [string, unknown, string, string][] = [
    ['nothing', undefined, '', 'the request must be an object'],
    ['a misspelt field', { prompt: 'a', choices: 2 }, 'choices', 'is unknown; the request has prompt,'],
    [
      'a misspelt sampling parameter',
      { prompt: 'a', sampling: { temprature: 0 } },
      'sampling.temprature',
      'temperature',
    ],
    ['a sampling parameter of the wire', { prompt: 'a', sampling: { top_p: 0.5 } }, 'sampling.top_p', 'topP'],
    ['a misspelt stop condition', { prompt: 'a', stop: { max_tokens: 5 } }, 'stop.max_tokens', 'maxTokens'],
    [
      'null in place of a number',
      { prompt: 'a', sampling: { temperature: null } },
      'sampling.temperature',
      'null',
    ],
    ['a number as text', { prompt: 'a', sampling: { topP: '0.5' } }, 'sampling.topP', 'a number; got "0.5"'],
    [
      'biases as OpenAI writes them',
      { prompt: 'a', sampling: { logitBias: { 5: 1 } } },
      'sampling.logitBias',
      'a list',
    ],
    [
      'a bias that is null',
      { prompt: 'a', sampling: { logitBias: [null] } },
      'sampling.logitBias[0]',
      'an object',
    ],
    ['one stop string', { prompt: 'a', stop: { strings: 'END' } }, 'stop.strings', 'a list; got "END"'],
    [
      'a stop string that is a number',
      { prompt: 'a', stop: { strings: [3] } },
      'stop.strings[0]',
      'text; got 3',
    ],
    ['a flag as text', { prompt: 'a', stop: { ignoreEos: 'no' } }, 'stop.ignoreEos', 'true or false'],
    [
      'a limit that is an object',
      { prompt: 'a', stop: { maxTokens: Object.create(null) } },
      'stop.maxTokens',
      'a number; got an object',
    ],
    ['logprobs as OpenAI writes them', { prompt: 'a', logprobs: true }, 'logprobs', 'an object; got true'],
    ['a partition that is a number', { prompt: 'a', cachePartition: 5 }, 'cachePartition', 'text'],
    ['tools that are a list', { prompt: { messages }, tools: [] }, 'tools', 'an object; got a list'],
    ['tools without definitions', { prompt: { messages }, tools: {} }, 'tools.definitions', 'at least one'],
    [
      'a tool as OpenAI writes it',
      { prompt: { messages }, tools: { definitions: [{ type: 'function', function: {} }] } },
      'tools.definitions[0].type',
      'has name, description, parameters, strict',
    ],
    [
      'a tool without a name',
      { prompt: { messages }, tools: { definitions: [{}] } },
      'tools.definitions[0].name',
      'got undefined',
    ],
    ['no prompt', {}, 'prompt', 'must be an object'],
    ['an empty prompt', { prompt: {} }, 'prompt', 'one of messages, text and tokenIds; got none'],
    ['two prompts', { prompt: { messages, text: 'a' } }, 'prompt', 'got messages and text'],
    ['messages that are text', { prompt: { messages: 'Hi' } }, 'prompt.messages', 'a list; got "Hi"'],
    ['a message that is text', { prompt: { messages: ['Hi'] } }, 'prompt.messages[0]', 'an object; got "Hi"'],
    [
      'a message without a role',
      { prompt: { messages: [{ content: 'Hi' }] } },
      'prompt.messages[0].role',
      'text',
    ],
    [
      'a message without content',
      { prompt: { messages: [...messages, { role: 'user' }] } },
      'prompt.messages[1].content',
      'text or a list',
    ],
    [
      'a part without text',
      { prompt: { messages: [{ role: 'user', content: [{ type: 'text' }] }] } },
      'prompt.messages[0].content[0]',
      'text',
    ],
    [
      'a part that is null',
      { prompt: { messages: [{ role: 'user', content: [null] }] } },
      'prompt.messages[0].content[0]',
      'text',
    ],
    ['token ids that are text', { prompt: { tokenIds: '1 2' } }, 'prompt.tokenIds', 'a list of token ids'],
    [
      'a variable of the template beside it',
      { prompt: { messages, template: { enable_thinking: false } } },
      'prompt.template.enable_thinking',
      'variables',
    ],
  ];
  it.each(cases)('is refused by the name of the field: %s', (_, request, parameter, message) => {
    expect(() => validate(request)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        parameter,
        message: expect.stringContaining(message),
      }),
    );
  });

  it('may have fields that are undefined', () => {
    const request = {
      prompt: { messages, text: undefined },
      choices: undefined,
      stop: { strings: undefined },
    };
    expect(() => validate(request)).not.toThrow();
  });

  it('may have messages with fields of their own, which templates read', () => {
    expect(() => validate({ prompt: { messages: [{ ...messages[0], mood: 'calm' }] } })).not.toThrow();
  });
});
