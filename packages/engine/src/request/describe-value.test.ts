import { expect, it } from 'vitest';
import { describeValue } from './describe-value.ts';

it.each([
  ['0', '"0"'],
  [0, '0'],
  [7n, '7'],
  [null, 'null'],
  [['a'], 'a list'],
  [{}, 'an object'],
  ['x'.repeat(1_000), `"${'x'.repeat(80)}…"`],
])('writes %o', (value, text) => {
  expect(describeValue(value)).toBe(text);
});
