import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compilePattern } from './compile-pattern.ts';
import { isCheapPattern } from './matching-cost.ts';

const isCheap = (source: string) => isCheapPattern(compilePattern(source).source);

test.each([
  "'s|'t|'re| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  "(?i:'s|'t|'ll)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{M}]*[\\p{Ll}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\s+(?!\\S)",
  '[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}',
  '\\d{1,3}(?=(?:\\d{3})*\\b)',
  '(?=(\\d{3})+(?!\\d))',
  '\\s+$',
  ' {2,}',
  ' ?[^(\\s|[.,!?…。，、।۔،])]+',
])('the published pattern %s is cheap', source => {
  expect(isCheap(source)).toBe(true);
});

test.each([
  '(a|a)*b',
  '(a+)+b',
  '(?:x*|y*)*z',
  '\\w*\\w*\\w*!',
  '\\s*\\s*x',
  '(?=(a|a)*b)c',
  '(?<=(a|b)+c)d',
  'a+(?=(?:(?=[^\\n]+))b)',
  '[ab]*(?>[ab]*)[ab]*c',
  '(?:a?){30}b',
  '\\s*x|'.repeat(40),
  'a'.repeat(9_000),
])('%s is not', source => {
  expect(isCheap(source)).toBe(false);
});

describe('a cheap pattern', () => {
  const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '[^\\n]', '\\s', '\\p{L}');
  const quantifier = fc.constantFrom('', '', '*', '+', '?', '{1,3}', '{0,9}', '{2,}', '*?', '+?');
  const { pattern } = fc.letrec<{ pattern: string; part: string; sequence: string }>(tie => ({
    part: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.tuple(atom, quantifier).map(parts => parts.join('')),
      fc.tuple(tie('pattern'), quantifier).map(([inner, times]) => `(?:${inner})${times}`),
      fc
        .tuple(fc.constantFrom('=', '!', '<=', '<!'), tie('pattern'))
        .map(([sign, inner]) => `(?${sign}${inner})`),
    ),
    sequence: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map(parts => parts.join('')),
    pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }).map(parts => parts.join('|')),
  }));
  const texts = ['a', 'ab', ' ', 'aab '].map(text => text.repeat(2_000 / text.length));

  it('matches two thousand characters within a second', () => {
    fc.assert(
      fc.property(pattern, source => {
        fc.pre(isCheapPattern(source));
        for (const text of [...texts, `${texts[0]}!`]) {
          const startedAtMs = performance.now();
          for (const _ of text.matchAll(new RegExp(source, 'gv')));
          expect(performance.now() - startedAtMs).toBeLessThan(3_000);
        }
      }),
      { numRuns: 50 },
    );
  });
});
