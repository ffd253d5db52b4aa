import {
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  type LanguageModelV4CallOptions,
} from '@ai-sdk/provider';
import { EngineError, type EngineErrorCode } from '@ortler/engine';
import { expect, it } from 'vitest';
import { fromEngineError } from './from-engine-error.ts';

const prompt: LanguageModelV4CallOptions['prompt'] = [];
const translate = (error: unknown, options: Partial<LanguageModelV4CallOptions> = {}) =>
  fromEngineError(error, { modelId: 'demo', options: { prompt, ...options } });

it.each([
  ['sampling.topP', 'topP', 'topP must be at most 1.', 'topP must be at most 1.'],
  ['stop.maxTokens', 'maxOutputTokens', 'stop.maxTokens must be 1.', 'maxOutputTokens must be 1.'],
  ['stop.strings[2]', 'stopSequences[2]', 'stop.strings[2] is empty.', 'stopSequences[2] is empty.'],
  [
    'sampling.minP',
    'providerOptions.ortler.minP',
    'minP must be 0 to 1.',
    'providerOptions.ortler.minP: minP must be 0 to 1.',
  ],
  [
    'logprobs.topCount',
    'providerOptions.ortler.logprobs',
    'logprobs.topCount must be 20.',
    'providerOptions.ortler.logprobs must be 20.',
  ],
  [
    'stop.tokenIds[0]',
    'providerOptions.ortler.stopTokenIds[0]',
    'x',
    'providerOptions.ortler.stopTokenIds[0]: x',
  ],
  ['badWords[1]', 'providerOptions.ortler.badWords[1]', 'x', 'providerOptions.ortler.badWords[1]: x'],
  ['priority', 'providerOptions.ortler.priority', 'x', 'providerOptions.ortler.priority: x'],
  ['constraint', 'providerOptions.ortler.constraint', 'x', 'providerOptions.ortler.constraint: x'],
  [
    'tools.definitions[1].parameters',
    'tools[1].inputSchema',
    'No such type (at tools.definitions[1].parameters/type).',
    'No such type (at tools[1].inputSchema/type).',
  ],
  ['prompt.messages', 'prompt', 'prompt.messages is empty.', 'prompt is empty.'],
])('a wrong %s is the argument %s', (parameter, argument, message, expected) => {
  const cause = new EngineError('invalid_request', message, { parameter });
  const translated = translate(cause);
  expect(InvalidArgumentError.isInstance(translated)).toBe(true);
  expect(translated).toMatchObject({ argument, message: expected, cause });
});

it('a wrong schema is named by the response format that it came in', () => {
  const error = new EngineError('invalid_request', 'No.', { parameter: 'constraint' });
  expect(translate(error, { responseFormat: { type: 'json' } })).toMatchObject({
    argument: 'responseFormat.schema',
  });
});

it.each<EngineErrorCode>(['prompt_too_long', 'template_failed'])('%s is an invalid prompt', code => {
  const translated = translate(new EngineError(code, 'Too long.'));
  expect(InvalidPromptError.isInstance(translated)).toBe(true);
  expect(translated).toMatchObject({ prompt, message: 'Invalid prompt: Too long.' });
});

it.each<[EngineErrorCode, number]>([
  ['overloaded', 429],
  ['model_unavailable', 503],
])('%s is worth a retry, after the time that the engine names', (code, statusCode) => {
  const translated = translate(new EngineError(code, 'Later.', { retryAfterMs: 250 }));
  expect(APICallError.isInstance(translated)).toBe(true);
  const responseHeaders = { 'retry-after-ms': '250' };
  expect(translated).toMatchObject({ statusCode, isRetryable: true, responseHeaders, url: 'ortler:demo' });
  expect(translate(new EngineError(code, 'Later.'))).toMatchObject({ responseHeaders: undefined });
});

it.each<EngineErrorCode>(['constraint_failed', 'engine_failed', 'engine_closed', 'model_invalid'])(
  '%s stays the error of the engine',
  code => {
    const error = new EngineError(code, 'No.');
    expect(translate(error)).toBe(error);
  },
);

it('an error that is not of the engine stays as it is', () => {
  const error = new RangeError('No.');
  expect(translate(error)).toBe(error);
  expect(translate('text')).toBe('text');
});
