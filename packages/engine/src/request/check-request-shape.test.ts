import { expect, it, test } from 'vitest';
import { checkRequestShape, checkSignal } from './check-request-shape.ts';
import type { GenerationRequest } from './generation-request.ts';

const prompt = { kind: 'text', text: 'Once' };

test.each([
  [undefined, '', 'must be an object; got undefined'],
  [{}, 'prompt', 'one of chat, text, tokens'],
  [{ prompt: 'Once' }, 'prompt', 'one of chat, text, tokens'],
  [{ prompt: { kind: 'messages' } }, 'prompt', 'one of chat, text, tokens'],
  [
    { prompt: { kind: 'text', tokenIds: [1] } },
    'prompt.tokenIds',
    'Its fields: kind, text, addSpecialTokens',
  ],
  [{ prompt: { kind: 'text', text: 1 } }, 'prompt.text', 'got number'],
  [{ prompt: { kind: 'tokens', tokenIds: '1' } }, 'prompt.tokenIds', 'must be a list'],
  [{ prompt: { kind: 'chat', messages: 'Hi' } }, 'prompt.messages', 'must be a list'],
  [{ prompt: { kind: 'chat', messages: [{ content: 'Hi' }] } }, 'prompt.messages[0]', 'with a role'],
  [{ prompt: { kind: 'chat', messages: [{ role: 'user' }] } }, 'prompt.messages[0].content', 'got undefined'],
  [{ prompt, temperature: 1 }, 'temperature', 'The request has no field temperature'],
  [{ prompt, signal: null }, 'signal', 'The request has no field signal'],
  [{ prompt, sampling: { temprature: 1 } }, 'sampling.temprature', 'Its fields: temperature, topP'],
  [{ prompt, stop: ['\n'] }, 'stop.0', 'Its fields: strings, tokenIds'],
])('a caller without types is told what is wrong in %j', (request, parameter, message) => {
  expect(() => checkRequestShape(request as unknown as GenerationRequest)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      parameter,
      message: expect.stringContaining(message),
    }),
  );
});

it('takes every kind of prompt, with ids in an array of any kind', () => {
  const parts = [{ type: 'text', text: 'Hi' }] as const;
  const prompts: GenerationRequest['prompt'][] = [
    {
      kind: 'chat',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: parts },
      ],
    },
    { kind: 'text', text: '' },
    { kind: 'tokens', tokenIds: [1] },
    { kind: 'tokens', tokenIds: Int32Array.of(1) as unknown as number[] },
  ];
  for (const prompt of prompts)
    expect(() => checkRequestShape({ prompt, stop: {}, sampling: {} })).not.toThrow();
});

it('takes a signal as such, not an object around it', () => {
  expect(() => checkSignal(undefined)).not.toThrow();
  expect(() => checkSignal(new AbortController().signal)).not.toThrow();
  const wrapped = { signal: new AbortController().signal } as unknown as AbortSignal;
  expect(() => checkSignal(wrapped)).toThrow('must be an AbortSignal, as second argument');
});
