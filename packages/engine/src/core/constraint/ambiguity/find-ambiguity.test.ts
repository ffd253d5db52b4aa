// Patterns that are known to keep matchers that backtrack busy for ever, and patterns that look like them and do not.

import { describe, expect, it } from 'vitest';
import { findAmbiguity } from './find-ambiguity.ts';
import { UnreadableRegex } from './regex-node.ts';
import { PatternTooLarge } from './work-budget.ts';

const EMAIL = '^\\w+([\\.-]?\\w+)*@\\w+([\\.-]?\\w+)*(\\.\\w{2,3})+$';

/** The part that is named comes second. Ambiguous wherever the pattern is looked for. */
const AMBIGUOUS: readonly (readonly [pattern: string, part: string])[] = [
  ['(a+)+$', '(a+)+'],
  ['^(a+)*b', '(a+)*'],
  ['((a+)+)+b', '(a+)+'],
  ['(a*)*b', '(a*)*'],
  ['(a*)+b', '(a*)+'],
  ['(?:a+?)+?b', '(?:a+?)+?'],
  ['(a|a)*b', '(a|a)*'],
  ['(a|aa)+$', '(a|aa)+'],
  ['(a|b|ab)*c', '(a|b|ab)*'],
  ['(a|a?)+$', '(a|a?)+'],
  ['(ab|a|b)+;', '(ab|a|b)+'],
  ['(.*)*x', '(.*)*'],
  ['(.*a)*b', '(.*a)*'],
  ['(.*a){20}$', '(.*a){20}'],
  ['(x+x+)+y', '(x+x+)+'],
  ['(a*a*b)*$', '(a*a*b)*'],
  ['(a?b?)*c', '(a?b?)*'],
  ['(a(b?|c?))*d', '(a(b?|c?))*'],
  ['((a|)+b)*c', '((a|)+b)*'],
  ['(?:(?:a|aa)+){30}b', '(?:a|aa)+'],
  ['((a{1,3})b?){1,}c', '((a{1,3})b?){1,}'],
  ['(a{1,140}){1,140}$', '(a{1,140}){1,140}'],
  ['(a?){500}a{500}', '(a?){500}'],
  ['([a-zA-Z]+)*$', '([a-zA-Z]+)*'],
  ['(\\w|_)*!', '(\\w|_)*'],
  ['(\\d+|[5-7])*!', '(\\d+|[5-7])*'],
  ['([^"]|\\w)*"', '([^"]|\\w)*'],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', '(([a-z])+.)+'],
  ['([a-z0-9]+[-._]?)+@', '([a-z0-9]+[-._]?)+'],
  [EMAIL, '([\\.-]?\\w+)*'],
  ['(https?:\\/\\/)?([\\/\\w \\.-]*)*\\/?$', '([\\/\\w \\.-]*)*'],
  ['^(.|\\s)*x', '(.|\\s)*'],
  ['^(.|\\s){1,500}$', '(.|\\s){1,500}'],
  ['^(.|\\s){10,}$', '(.|\\s){10,}'],
  ['^(a|a)*.*$', '(a|a)*'],
  ['^(a|a)*[^]*b$', '(a|a)*'],
  ['^(.|\\w)*$', '(.|\\w)*'],
  ['(\\p{L}+\\p{N}*)*!', '(\\p{L}+\\p{N}*)*'],
  ['(\\u00e9|é)*!', '(\\u00e9|é)*'],
  ['(\\uD83D\\uDE00|\\u{1F600})*!', '(\\uD83D\\uDE00|\\u{1F600})*'],
  ['^(?=(a+)+b)a', '(a+)+'],
  ['^(?!(a|a)*b)', '(a|a)*'],
  ['((a+)+b\\b)*', '(a+)+'],
  ['((a+)+b)*', '(a+)+'],
  ['(a+){10}', '(a+){10}'],
  ['(\\[?(a*)\\]?)+x', '(\\[?(a*)\\]?)+'],
];

const UNAMBIGUOUS: readonly string[] = [
  '',
  'a*b',
  '(a+b)+',
  '(a+b)+$',
  '(ab*)*c',
  '(a|b)*c',
  '(?:a|ba)*c',
  '(ab|ac)*d',
  '([a-z]+\\.)+com',
  '(\\d{1,3}\\.){3}\\d{1,3}',
  '(?:[0-9a-f]{1,4}:){7,50}[0-9a-f]{1,4}',
  '(?:[^"\\\\]|\\\\.)*"',
  '^([0-9a-f]{32},?)*$',
  '^[a-z]+(?:[_.-][a-z]+)*$',
  '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)*[a-z]{2,63}$',
  '^(\\w+\\s)*\\w+$',
  '(\\w+\\W)*!',
  '([a-y]|z)*!',
  '(\\d|\\D)*!',
  '(\\p{Lu}|\\p{Ll})*!',
  '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  // A power of the length at most.
  'a*a*a*b',
  '(a+){9}$',
  '(a?){9}a{9}$',
  '.*a.*b.*c$',
  // Nothing can fail behind them.
  '^(.|\\s)*$',
  '^([\\s\\S]|a)+$',
  '^(a|[^])*$',
  '^(a|a)*[^]*$',
  '^(a|a)*(?:.|\\s)*',
  // What is not known to let a text through.
  '(\\b\\w+\\b\\s*)*!',
  '(a+(?=b))*c',
  '(^a+)*b',
  '(a+$)*b',
  '(?:(a)\\1)*b',
  '(a|[^\\s\\S])*b',
  '(?:a{0}b)*c',
];

/** Ambiguous only where the whole text must match: found anywhere, the first way is good enough. */
const AMBIGUOUS_AS_A_WHOLE: readonly string[] = [
  '(a+)+',
  '^(a|a)*',
  '(?:a|aa)+b?',
  '(a|a)*(b+)?',
  'x(?:(a|a)+|b)',
  '(a+){3,}',
  '(?:[a-z]+-?)+',
];

describe('a pattern of which matchers that backtrack try exponentially many ways', () => {
  it.each(AMBIGUOUS)('%j is found by its part %j', (pattern, part) => {
    expect(findAmbiguity(pattern, { notation: 'ecma', extent: 'search' })).toBe(part);
    expect(findAmbiguity(pattern, { notation: 'ecma', extent: 'whole' })).toBe(part);
  });

  it.each(AMBIGUOUS_AS_A_WHOLE)('%j is found where the whole text must match, and only there', pattern => {
    expect(findAmbiguity(pattern, { notation: 'ecma', extent: 'whole' })).not.toBeNull();
    expect(findAmbiguity(pattern, { notation: 'ecma', extent: 'search' })).toBeNull();
  });

  it.each(UNAMBIGUOUS)('%j is none', pattern => {
    expect(findAmbiguity(pattern, { notation: 'ecma', extent: 'whole' })).toBeNull();
    expect(findAmbiguity(pattern, { notation: 'ecma', extent: 'search' })).toBeNull();
  });

  it.each([
    ['(?i)(a|A)*b', '(a|A)*'],
    ['(?i:(a|A)*)b', '(a|A)*'],
    ['(?x) ( a | a ) * b', '( a | a ) *'],
    ['([[:alpha:]]|[a-z&&b])*!', '([[:alpha:]]|[a-z&&b])*'],
    ['([a-z--b]|c)*!', '([a-z--b]|c)*'],
    ['(\\x{61}|\\u{61}|\\U00000061)*!', '(\\x{61}|\\u{61}|\\U00000061)*'],
    ['(?P<name>a+)+b', '(?P<name>a+)+'],
    ['a**b', 'a**'],
    ['([]a]|])*!', '([]a]|])*'],
    ['(\\pL|\\p{Lu})*!', '(\\pL|\\p{Lu})*'],
    ['(a+)*\\z|b', '(a+)*'],
  ])('%j is one in the syntax of Rust', (pattern, part) => {
    expect(findAmbiguity(pattern, { notation: 'rust', extent: 'whole' })).toBe(part);
  });

  it.each(['(a|A)*b', '(?i)(?-i:a|A)*b', '([a-z--b]|b)*!', '([a-z&&[^b]]|b)*!', '([a-c~~c]|c)*!'])(
    '%j is none in the syntax of Rust',
    pattern => {
      expect(findAmbiguity(pattern, { notation: 'rust', extent: 'whole' })).toBeNull();
    },
  );
});

describe('a hostile pattern', () => {
  it.each([
    ['many optional parts', `(?:${'a?'.repeat(8_000)}b)*c`],
    ['groups in groups', `${'('.repeat(8_000)}a${')*'.repeat(8_000)}`],
    ['classes in classes', `${'['.repeat(8_000)}a${']'.repeat(8_000)}`],
    ['repetitions of repetitions', `a${'{1}'.repeat(5_000)}`],
    ['counts of counts', '(?:(?:(?:a{100}){100}){100}b)*c'],
    ['counts of nothing', '(?:(?:(?:(?:){1000}){1000}){1000}){1000}*b'],
    ['a long list of words', `(?:${Array.from({ length: 1_500 }, (_, i) => `k${i}`).join('|')})*x`],
  ])('of %s is given up after so many steps', (_name, pattern) => {
    expect(() => findAmbiguity(pattern, { notation: 'rust', extent: 'whole' })).toThrow(PatternTooLarge);
  });

  it.each(['(a', 'a)', '[a', '*a', 'a\\', '(?>a)', '(?:a', '\\p{Nonsense}', '\\u{110000}', '[\\8]'])(
    '%j is not read',
    pattern => {
      expect(() => findAmbiguity(pattern, { notation: 'ecma', extent: 'whole' })).toThrow(UnreadableRegex);
    },
  );
});
