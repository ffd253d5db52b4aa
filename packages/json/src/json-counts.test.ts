import { expect, it } from 'vitest';
import { JsonCounter } from './json-counts.ts';

const LIMITS = { maxValueCount: 6, maxKeyCount: 3 };
const bytesOf = (text: string) => new TextEncoder().encode(text);
const excessOf = (text: string) => new JsonCounter(LIMITS).add(bytesOf(text));
const excess = (value: unknown) => excessOf(JSON.stringify(value));

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

it('counts nothing inside long texts, with quotes and backslashes at any place, in pieces as whole', () => {
  for (let length = 28; length < 72; length++)
    for (const inside of [',', '",', '\\', '\\",', '\\\\', ',"\\'.repeat(20)]) {
      const text = `${'x'.repeat(length)}${inside}${'y,'.repeat(40)}`;
      const bytes = bytesOf(JSON.stringify([text, { [text]: 1 }, text, 2]));
      for (const size of [1, 7, 33, bytes.length]) {
        const counter = new JsonCounter({ maxValueCount: 6, maxKeyCount: 1 });
        for (let at = 0; at < bytes.length; at += size)
          expect(counter.add(bytes.subarray(at, at + size)), `${inside} after ${length}`).toBeNull();
        expect(counter.add(bytesOf(',1')), `${inside} after ${length}`).toBe('maxValueCount');
      }
    }
});

it('leaves broken text to the parser', () => {
  for (const text of ['', '{', ']]]', '"', ',,']) expect(excessOf(text)).toBeNull();
});

it('counts the same in pieces, wherever they are cut', () => {
  const texts = ['{"ü\\"":"\\\\","b":",{[",  "c":[[]]}', '{"a":1,"b":2,"c":3,"d":4}', '[1,2,3,4,5,6]'];
  for (const text of texts) {
    const bytes = bytesOf(text);
    for (let first = 0; first <= bytes.length; first++)
      for (let second = first; second <= bytes.length; second++) {
        const counter = new JsonCounter(LIMITS);
        const pieces = [bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)];
        const found = pieces.reduce<string | null>((excess, piece) => excess ?? counter.add(piece), null);
        expect(found).toBe(excessOf(text));
      }
  }
  expect(texts.map(excessOf)).toEqual([null, 'maxKeyCount', 'maxValueCount']);
});
