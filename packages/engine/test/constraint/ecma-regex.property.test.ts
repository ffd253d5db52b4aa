// Patterns of JSON Schema, translated, against JavaScript's own regular expressions on random texts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compileEcma,
  translateSearchPattern,
  UntranslatablePattern,
} from '../../src/core/constraint/ecma-regex.ts';
import { allows } from './feed-text.ts';

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
    const grammar = { kind: 'regex', text: translateSearchPattern(pattern) } as const;
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
