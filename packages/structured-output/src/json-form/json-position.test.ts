import { expect, it } from 'vitest';
import { findJsonPosition } from './json-position.ts';

it.each([
  ['', '', 'nothing'],
  ['{', '', 'object'],
  ['{"na', '', 'name'],
  ['{"name"', '', 'object'],
  ['{"name": "Be', '/name', 'string'],
  ['{"name": "Be\\"n', '/name', 'string'],
  ['{"name": "Ben"', '', 'object'],
  ['{"name": "Ben", "age": 12', '/age', 'number'],
  ['{"a": [1, {"b/c": tr', '/a/1/b~1c', 'literal'],
  ['{"a": [1, {"b": true', '/a/1', 'object'],
  ['{"a": [[], ["x"], [', '/a/2', 'array'],
  ['{"a": ["x", "y"', '/a', 'array'],
  ['{"a": ["x", "y", "z', '/a/2', 'string'],
  ['"abc', '', 'string'],
  ['-', '', 'number'],
] as const)('the text %j stops at %j inside a %s', (text, path, inside) => {
  expect(findJsonPosition(text)).toEqual({ path, inside });
});

it.each(['{}', '{"a": [1]}', '12', '"a"', 'true'])('the text %j is complete', text => {
  expect(findJsonPosition(text)).toBeNull();
});
