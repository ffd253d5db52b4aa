// Patterns of JSON Schema, translated, against JavaScript's own regular expressions on random texts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';
import { compileEcma } from './compile-ecma.ts';
import { translateSearchPattern, UntranslatablePattern } from './ecma-regex.ts';

const RUNS = Number(process.env.CONSTRAINT_RUNS ?? 40);

const PATTERNS = [
  'b',
  '^a',
  'a$',
  '^a$|^b',
  '^$',
  '',
  '\\d{2}',
  '^\\w+$',
  '^\\W$',
  '\\s',
  '^\\S+$',
  '^.$',
  '^[^a-c]$',
  '[\\d-]x',
  '[a-]',
  '[-a]',
  '^[\\w.]+$',
  '^[^\\s]$',
  '[&&a]',
  '[[]',
  '^[^\\D]$',
  'a|b|',
  '(?:a|b)+?c',
  '(?<name>a)b',
  '\\u00e9',
  '\\x61{2}',
  '\\/',
  '^[]$',
  '^[^]$',
  '\\.',
  'a{1,2}',
  '^a{,2}$',
  '\\ud83d\\ude00',
  '^[\\u2028 ]$',
  '^\\-$',
  '^[~#]$',
];
const characters = fc.constantFrom(...'abcxé0 9-_.\n\r\t&[]~#{},/"😀\u2028\u00a0\ufeff٣');
const texts = fc.array(characters, { maxLength: 5 }).map(list => list.join(''));

describe('translated patterns', () => {
  it.each(PATTERNS)('match where %j does', pattern => {
    const grammar = { kind: 'regex', text: translateSearchPattern(pattern).pattern } as const;
    const original = compileEcma(pattern);
    if (pattern === '^[]$') {
      expect(() => allows({ grammar, check: null }, '')).toThrow('Nothing satisfies');
      return;
    }
    fc.assert(
      fc.property(texts, text => {
        expect(allows({ grammar, check: null }, text), JSON.stringify(text)).toBe(original.test(text));
      }),
      { numRuns: 40 },
    );
  });

  // Sets of characters with gaps where JSON has escapes; `\u0001` is the one character that such sets do without.
  const gaps = fc.subarray(['"', '\\\\', '/', 'a-z', '\\n', '\\x00-\\x1f', '\\t', 'é', '\\p{L}'], {
    minLength: 1,
  });
  const sets = fc.oneof(
    gaps.map(list => `[^${list.join('')}]`),
    gaps.map(list => `[${list.join('')}]`),
    fc.constantFrom(
      '.',
      '\\W',
      '\\D',
      '\\S',
      '[^]',
      '\\p{Cc}',
      '\\P{Po}',
      '\\x01',
      '[\\x00-!#-~]',
      '"',
      '\\\\',
    ),
  );
  const sources = fc
    .array(
      fc.array(
        fc.tuple(sets, fc.constantFrom('', '', '+', '?', '{2}')).map(each => each.join('')),
        { minLength: 1, maxLength: 3 },
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map(branches => `^(?:${branches.map(each => each.join('')).join('|')})$`);
  const escaped = fc
    .array(fc.constantFrom(...'"\\/ab\n\t\u0000\u0001\u001fé\u2028'), { maxLength: 3 })
    .map(list => list.join(''));

  it('match inside JSON where they do outside, but for U+0001', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(sources, fc.array(escaped, { minLength: 5, maxLength: 5 }), (pattern, list) => {
        const original = compileEcma(pattern);
        const schema = { type: 'string', pattern };
        let isAllowed: (text: string) => boolean;
        try {
          const prepared = prepare({ jsonSchema: schema, strict: true });
          isAllowed = text => allows(prepared, JSON.stringify(text));
        } catch (error) {
          expect((error as Error).message).toMatch(/Nothing satisfies|nsatisfiable/);
          isAllowed = () => false;
        }
        for (const text of list) {
          const isMatch = original.test(text);
          if (text.includes('\u0001') && isMatch) continue;
          expect(isAllowed(text), `${pattern} and ${JSON.stringify(text)}`).toBe(isMatch);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('say what no grammar can express', () => {
    for (const pattern of [
      '(?=a)b',
      '(?<!a)b',
      '(a)\\1',
      '\\bword',
      'a^b',
      '(^a|b)',
      '(?<x>a)\\k<x>',
      '\\ud800',
    ])
      expect(() => translateSearchPattern(pattern), pattern).toThrow(UntranslatablePattern);
    expect(() => translateSearchPattern('(')).toThrow(SyntaxError);
  });
});
