import { EngineError } from '@ortler/engine';
import { TRPCClientError } from '@trpc/client';
import { describe, expect, it } from 'vitest';
import { UserError } from '../user-error.ts';
import { toUserError } from './to-user-error.ts';

const messageOf = (error: unknown) => {
  const shown = toUserError(error);
  expect(shown).toBeInstanceOf(UserError);
  return (shown as UserError).message;
};

const refusal = (message: string, data: object) =>
  TRPCClientError.from({ error: { code: 1, message, data } });

describe('names the flag of the field at fault', () => {
  it.each([
    ['stop.maxTokens', 'stop.maxTokens must be 1 or more.', '--max-tokens must be 1 or more.'],
    ['sampling.temperature', 'temperature must be 0 to 2; got 9.', '--temperature must be 0 to 2; got 9.'],
    ['prompt', 'The temperature of the prompt is wrong.', 'The temperature of the prompt is wrong.'],
    ['prompt.template.template', 'Give one.', 'Give one. The flag is --chat-template FILE.'],
  ])('%s of the engine', (parameter, message, shown) => {
    expect(messageOf(new EngineError('invalid_request', message, { parameter }))).toBe(shown);
  });

  it.each([
    ['max_completion_tokens', 'max_completion_tokens must be 1 or more.', '--max-tokens must be 1 or more.'],
    ['temperature', 'temperature must be 0 to 2.', '--temperature must be 0 to 2.'],
    ['chat_template', 'The model has no chat template.', 'The model has no chat template.'],
    [null, 'No temperature today.', 'No temperature today.'],
  ])('%s of a server', (param, message, shown) => {
    expect(messageOf(refusal(message, { httpStatus: 400, param }))).toBe(shown);
  });
});

it('says when a server rejects the key, or cannot be reached', () => {
  expect(messageOf(refusal('Wrong key.', { httpStatus: 401, param: null }))).toContain('rejects the key');
  const unreachable = TRPCClientError.from(new Error('fetch failed', { cause: new Error('ECONNREFUSED') }));
  expect(messageOf(unreachable)).toBe('The server cannot be reached: ECONNREFUSED');
});

it('leaves other errors as they are', () => {
  const error = new TypeError('a bug');
  expect(toUserError(error)).toBe(error);
});
