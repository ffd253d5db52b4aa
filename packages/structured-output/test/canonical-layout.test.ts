import { expect, it } from 'vitest';
import { isCanonical } from './canonical-layout.ts';

const VALUE = { a: [1, { b: 'x, y: {' }, []], c: null, d: {}, e: { f: [[2]] } };

it.each([
  JSON.stringify(VALUE),
  JSON.stringify(VALUE, null, 2),
  JSON.stringify(VALUE, null, '\t'),
  '{"a": [1, 2], "b": {"c": 3}}',
  '{\n"a": [1, 2],\n"b": {\n"c": 3\n}\n}',
  '{\n  "a": [1, 2],\n  "b": {"c": 3}\n}',
  '[\n    [\n        1\n    ]\n]',
  '{\n  "a": [1, 2],\n  ',
])('%j is canonical', text => {
  expect(isCanonical(text)).toBe(true);
});

it.each([
  '{"a" : 1}',
  '{"a":1 ,"b":2}',
  '{"a": 1,"b": 2}',
  '{"a":1, "b": 2}',
  '{ "a": 1}',
  '{"a": [\n1]}',
  '{\n  "a": 1, "b": 2\n}',
  '{\n  "a": 1}',
  '{\n  "a": [\n   1\n  ]\n}',
  '{\n  "a": 1\n\n}',
  '[1\n]',
])('%j is not', text => {
  expect(isCanonical(text)).toBe(false);
});
