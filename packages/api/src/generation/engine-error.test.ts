import { EngineError } from '@ortler/engine';
import { expect, it } from 'vitest';
import { ApiError } from '../trpc/errors.ts';
import { fromEngineError } from './engine-error.ts';

function translate(parameter: string, message: string, max_completion_tokens: number | null = null) {
  const error = fromEngineError(new EngineError('invalid_request', message, { parameter }), {
    max_completion_tokens,
    logit_bias: { '1': 0, '2': 0, '3': 0, '5': 0 },
  });
  if (!(error instanceof ApiError)) throw new Error('expected an ApiError');
  return { param: error.param, message: error.message };
}

it.each([
  [
    'sampling.topP',
    'topP must be above 0 and at most 1; got 0.',
    'top_p',
    'top_p must be above 0 and at most 1; got 0.',
  ],
  [
    'stop.minTokens',
    'stop.minTokens must be at most stop.maxTokens (3); got 5.',
    'min_tokens',
    'min_tokens must be at most max_tokens (3); got 5.',
  ],
  ['stop.strings[2]', 'stop.strings[2] must not be empty.', 'stop', 'stop[2] must not be empty.'],
  [
    'choiceCount',
    'choiceCount must be 1 when temperature is 0; got 2.',
    'n',
    'n must be 1 when temperature is 0; got 2.',
  ],
  [
    'prompt.messages[0].role',
    'The prompt must not be empty.',
    'messages',
    'messages: The prompt must not be empty.',
  ],
  [
    'sampling.logitBias[3].tokenId',
    'sampling.logitBias[3].tokenId must be a token id.',
    'logit_bias',
    'logit_bias["5"] must be a token id.',
  ],
  ['sampling.frequencyPenalty', 'frequencyPenalty is 3.', 'frequency_penalty', 'frequency_penalty is 3.'],
  ['logprobs.topCount', 'logprobs.topCount is 21.', 'logprobs', 'top_logprobs is 21.'],
  ['promptLogprobs.topCount', 'promptLogprobs.topCount is 21.', 'prompt_logprobs', 'prompt_logprobs is 21.'],
  ['beamSearch.width', 'beamSearch.width is 11.', 'n', 'n is 11.'],
  ['badWords[0]', 'badWords[0] is empty.', 'bad_words', 'bad_words[0] is empty.'],
  [
    'repetitionDetection.minCount',
    'repetitionDetection.minCount is 1.',
    'repetition_detection',
    'repetition_detection: min_count is 1.',
  ],
  [
    'truncatePromptTokens',
    'truncatePromptTokens is 0.',
    'truncate_prompt_tokens',
    'truncate_prompt_tokens is 0.',
  ],
  ['priority', 'priority must be 0.', 'priority', 'priority must be 0.'],
  ['unheard.of', 'unheard.of is wrong.', null, 'unheard.of is wrong.'],
] as const)('says %s in the words of the wire', (parameter, message, param, wireMessage) => {
  expect(translate(parameter, message)).toEqual({ param, message: wireMessage });
});

it('names the length field that was given', () => {
  const message = 'stop.maxTokens must be a whole number from 1 to 512; got 0.';
  expect(translate('stop.maxTokens', message, 0)).toEqual({
    param: 'max_completion_tokens',
    message: 'max_completion_tokens must be a whole number from 1 to 512; got 0.',
  });
});

it('keeps the words of a template', () => {
  const error = fromEngineError(new EngineError('template_failed', 'topP is not my business'), {
    max_completion_tokens: null,
  });
  expect(error).toMatchObject({ reason: 'invalid_parameter', message: 'topP is not my business' });
});

it('reports why a server aborted instead of that it did', () => {
  const reason = new ApiError('model_unavailable', 'The server is stopping.');
  const error = new EngineError('aborted', 'x', { cause: reason });
  expect(fromEngineError(error, { max_completion_tokens: null })).toBe(reason);
});

it('says when to come back as the engine says it, and nothing where the engine does not know', () => {
  for (const retryAfterMs of [30_000, undefined]) {
    const details = retryAfterMs === undefined ? {} : { retryAfterMs };
    const error = fromEngineError(new EngineError('model_unavailable', 'x', details), {});
    expect(error).toMatchObject({ reason: 'model_unavailable', retryAfterMs });
  }
});

it('calls the prompt of a completion prompt', () => {
  const names = { promptField: 'prompt' } as const;
  for (const [parameter, message] of [
    ['prompt', 'prompt is x'],
    ['prompt.tokenIds[3]', 'prompt[3] is x'],
  ] as const) {
    const ofEngine = new EngineError('invalid_request', `${parameter} is x`, { parameter });
    expect(fromEngineError(ofEngine, names)).toMatchObject({ param: 'prompt', message });
  }
});

it.each([
  ['prompt', 'The prompt must not be empty.', 'The prompt must not be empty. (prompt[2])'],
  ['prompt.tokenIds[3]', 'prompt.tokenIds[3] is x', 'prompt[2][3] is x'],
  ['promptLogprobs.topCount', 'promptLogprobs.topCount is 21.', 'prompt_logprobs is 21.'],
])('says which of several prompts an error is about: %s', (parameter, words, message) => {
  const error = new EngineError('invalid_request', words, { parameter });
  const [param] = message.match(/prompt_logprobs|prompt/)!;
  expect(fromEngineError(error, { promptField: 'prompt', promptIndex: 2 })).toMatchObject({ param, message });
});

it('names the field of a constraint, whose faults are separate', () => {
  const error = new EngineError('invalid_request', 'Unclosed group.', { parameter: 'constraint' });
  expect(fromEngineError(error, {})).toMatchObject({
    param: 'response_format',
    message: 'response_format: Unclosed group.',
  });
});

it('leaves failures of other kinds alone', () => {
  const error = new TypeError('a bug');
  expect(fromEngineError(error, { max_completion_tokens: null })).toBe(error);
});

it.each([
  ['{{ broken', 'chat_template'],
  [null, null],
])('blames the request for a failed template only when it brought one: %j', (chat_template, param) => {
  const error = fromEngineError(new EngineError('template_failed', 'x'), { chat_template });
  expect(error).toMatchObject({ reason: 'invalid_parameter', param });
});

it('blames the field whose rule a template could not keep', () => {
  const error = new EngineError('template_failed', 'continueFinalMessage is not possible.', {
    parameter: 'prompt.template.continueFinalMessage',
  });
  expect(fromEngineError(error, { chat_template: 'x' })).toMatchObject({
    param: 'continue_final_message',
    message: 'continue_final_message is not possible.',
  });
});

it('asks to try again where the model is being started again, and hides the reason', () => {
  const cause = new EngineError('engine_failed', "The model's process ended with SIGKILL.", {
    retryAfterMs: 250,
  });
  const error = fromEngineError(cause, {});
  expect(error).toMatchObject({ reason: 'model_unavailable', param: 'model', retryAfterMs: 250, cause });
  expect((error as ApiError).message).not.toContain('SIGKILL');
});
