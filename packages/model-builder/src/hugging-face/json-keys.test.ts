import { expect, it } from 'vitest';
import { findDuplicateKey } from './json-keys.ts';

it.each([
  ['{"a":1,"b":2}', undefined],
  ['{"a":1,"b":{"a":1}}', undefined],
  ['{"a":["a","a"],"b":"a"}', undefined],
  ['{"a":1,"a":2}', 'a'],
  ['{"a":{"x":[1,{"y":2}]},"b":",\\"a\\":","a":2}', 'a'],
  ['{"a\\\\":1,"a":1,"\\u0061":2}', 'a'],
  ['{}', undefined],
])('finds the doubled key of %s: %s', (json, key) => {
  expect(findDuplicateKey(json)).toBe(key);
});
