import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { checkHeaders, isAllowedHost } from './check-headers.ts';

it.each([
  ['127.0.0.1:8000', true],
  ['[::1]:8000', true],
  ['localhost', true],
  ['LOCALHOST.:8000', true],
  ['app.localhost:8000', true],
  ['10.0.0.7', true],
  ['llm.example.org', true],
  [undefined, true],
  ['attacker.example:8000', false],
  ['localhost.attacker.example', false],
  ['127.0.0.1.attacker.example', false],
  ['', false],
  ['a b', false],
])('a request to the host %s is answered: %s', (header, isAllowed) => {
  expect(isAllowedHost(header, ['llm.example.org'])).toBe(isAllowed);
});

const request = (...rawHeaders: string[]) =>
  ({ rawHeaders, headers: { host: rawHeaders[1] } }) as unknown as IncomingMessage;

it('refuses two headers of which only one could count', () => {
  const key = ['Authorization', 'Bearer a'];
  expect(() => checkHeaders(request('Host', 'x', ...key), '*')).not.toThrow();
  expect(() => checkHeaders(request('Host', 'x', ...key, 'authorization', 'b'), '*')).toThrow(
    expect.objectContaining({ reason: 'malformed_request' }),
  );
  expect(() => checkHeaders(request('Host', 'x', 'host', 'y'), '*')).toThrow('more than one host header');
});

it('names the setting where a host is refused', () => {
  expect(() => checkHeaders(request('Host', 'evil.example'), [])).toThrow(/ORTLER_ALLOWED_HOSTS/);
});
