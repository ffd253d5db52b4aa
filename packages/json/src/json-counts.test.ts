import { expect, it } from 'vitest';
import { findExcess } from './json-counts.ts';

const LIMITS = { maxValueCount: 6, maxKeyCount: 3 };
const excess = (value: unknown) => findExcess(JSON.stringify(value), LIMITS);

it('counts the values of a text', () => {
  expect(excess([1, 2, 3, 4])).toBeNull();
  expect(excess([1, 2, 3, 4, 5])).toBeNull();
  expect(excess([1, 2, 3, 4, 5, 6])).toBe('maxValueCount');
  expect(excess([[[[[[]]]]]])).toBe('maxValueCount');
});

it('counts the keys of one object', () => {
  expect(excess({ a: 1, b: 2, c: 3 })).toBeNull();
  expect(excess({ a: 1, b: 2, c: 3, d: 4 })).toBe('maxKeyCount');
  expect(excess([{ a: 1, b: 2 }, { c: 3 }])).toBeNull();
});

it('counts nothing inside texts', () => {
  expect(excess({ a: ',,,,,,{{[[', 'b"': '\\",,,,' })).toBeNull();
});

it('leaves broken text to the parser', () => {
  for (const text of ['', '{', ']]]', '"', ',,']) expect(findExcess(text, LIMITS)).toBeNull();
});
