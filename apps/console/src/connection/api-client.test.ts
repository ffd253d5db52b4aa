import { TRPCClientError } from '@trpc/client';
import { expect, it } from 'vitest';
import { messageOf } from './api-client.ts';

const failed = (message: string, httpStatus?: number) =>
  TRPCClientError.from({ error: { code: -32_000, message, data: { httpStatus } } });

it.each([
  ['a refused key', failed('Unauthorized', 401), 'The server does not know this key.'],
  ['a refusal', failed('temperature must be 0 to 2; got 9.', 400), 'temperature must be 0 to 2; got 9.'],
  ['no connection in Safari', new TypeError('Load failed'), 'The server does not answer.'],
  [
    'a stream that was cut off',
    new Error('Stream closed unexpectedly'),
    'The connection ended before the answer did.',
  ],
  ['no connection', new TypeError('Failed to fetch'), 'The server does not answer.'],
])('%s is told in words for people', (_, error, message) => {
  expect(messageOf(error)).toBe(message);
});
