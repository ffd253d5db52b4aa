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
  ['Basic YW55OmtleQ==', { kind: 'basic', username: 'any', password: 'key' }],
  ['basic OmtleTpwYXJ0', { kind: 'basic', username: '', password: 'key:part' }],
  ['Basic YW55', { kind: 'other', scheme: 'Basic' }],
  ['Basic a:b', { kind: 'other', scheme: 'Basic' }],
  ['Digest abc', { kind: 'other', scheme: 'Digest' }],
  ['abc', { kind: 'none' }],
])('reads the header %j as %j', (header, credentials) => {
  expect(parseCredentials(header)).toEqual(credentials);
});
