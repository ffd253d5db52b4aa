import { describe, expect, it } from 'vitest';
import { hasNestedCounts, patternSize } from './pattern-size.ts';

const SIZES: readonly (readonly [pattern: string, size: number])[] = [
  ['', 0],
  ['abc', 3],
  ['a|b|', 2],
  ['^a+b*?c?$', 3],
  ['a{3}', 3],
  ['a{3,}', 3],
  ['a{0,5}', 5],
  ['a{0}', 1],
  ['(?:ab){3}c', 7],
  ['(?:a{1,999}){1,999}', 998_001],
  ['((ab){2}c){10}', 50],
  ['(?<name>a)(?i:b)(?=c)(?<!d)', 4],
  ['[a-z]{4}[^\\]\\[]{2}', 6],
  ['[[:alpha:]&&[^a]]x', 2],
  ['\\d{2}\\x{41}\\u{1F600}{3}\\u00e9\\p{L}{2}', 9],
  ['\\{2}\\(', 4],
  ['x{,3}', 5],
  ['(a{3}', 3],
  ['a)b', 2],
  ['[abc', 1],
  ['a\\', 2],
  ['('.repeat(10_000), 0],
];

describe('the size of a pattern', () => {
  it.each(SIZES)('of %j is %i with repetitions written out', (pattern, size) => {
    expect(patternSize(pattern)).toBe(size);
  });
});

describe('nested counted repetitions', () => {
  it.each(['(?:a{1,9}b){2}', '(a{1,9}){0,3}', '((a{0,5})*){2,}', '(?:x(?:[{}]{1,2}y)z){1,2}'])(
    'are in %s',
    pattern => {
      expect(hasNestedCounts(pattern)).toBe(true);
    },
  );

  it.each([
    'a{1,9}b{1,9}',
    '(?:a{2}){3}',
    '(?:a{1,9})*',
    '(?:a+){1,9}',
    '(?:\\{1,2}){1,9}',
    '(?:a{1,9}){1}',
    '[({1,2}){3}]',
  ])('are not in %s', pattern => {
    expect(hasNestedCounts(pattern)).toBe(false);
  });
});
