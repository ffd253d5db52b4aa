import { expect, it } from 'vitest';
import { parseCredentials } from './credentials.ts';

it.each([
  [undefined, { kind: 'none' }],
  ['', { kind: 'none' }],
  ['Bearer', { kind: 'none' }],
  ['Bearer ', { kind: 'none' }],
  ['Bearer abc', { kind: 'bearer', token: 'abc' }],
  ['bearer abc', { kind: 'bearer', token: 'abc' }],
  ['BEARER   abc ', { kind: 'bearer', token: 'abc' }],
  ['Basic abc', { kind: 'other', scheme: 'Basic' }],
  ['abc', { kind: 'none' }],
])('reads the header %j as %j', (header, credentials) => {
  expect(parseCredentials(header)).toEqual(credentials);
});
