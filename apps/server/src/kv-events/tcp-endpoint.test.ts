import { expect, it } from 'vitest';
import { parseTcpEndpoint } from './tcp-endpoint.ts';

it.each([
  ['tcp://*:5557', { host: '*', port: 5557 }],
  ['tcp://127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['tcp://[::1]:5557', { host: '::1', port: 5557 }],
  ['tcp://localhost:70000', null],
  ['ipc:///tmp/events', null],
  ['5557', null],
])('reads %s', (text, endpoint) => {
  expect(parseTcpEndpoint(text)).toEqual(endpoint);
});
