import { expect, test } from 'vitest';
import { compilePattern, literalPattern } from './compile-pattern.ts';

test.each([
  ['\\s', '\u0085\ufeff ', ['\u0085', ' ']],
  ['\\w+', 'aé²_٣ ½', ['aé²_٣', '½']],
  // The numbers of Latin-1 are parts of words for \w alone, and not for a class with \w.
  ['\\W', 'a²①', ['①']],
  ['[\\w]+', 'aé²_٣½', ['aé', '_٣']],
  ['[^\\w\\s]', 'a² ½!', ['²', '½', '!']],
  ['[\\W]', 'a²', ['²']],
  ['.', 'a\r\n', ['a', '\r']],
  ['^a|b$', 'a\nab', ['a', 'a', 'b']],
  ['a{,2}b', 'aaab', ['aab']],
  ['(?:ab){2}?c', 'ababc abc', ['ababc', 'c']],
  ['a{1,2}?b', 'aab', ['aab']],
  ['a++a|b', 'aaab', ['b']],
  ['(?>a|ab)c', 'abcac', ['ac']],
  ["(?i:'s|'ll)", "'S'ſ'LL's", ["'S", "'ſ", "'LL", "'s"]],
  ['a(?i)b|c', 'aB ac ab b', ['aB', 'ac', 'ab']],
  ['(?i:a)a', 'AaAA', ['Aa']],
  ['[[:alpha:]&&[^a-c]]+', 'abcdé', ['dé']],
  ['[^\\p{L}&&[^b]]', 'a1b', ['1', 'b']],
  ['\\p{Han}|\\p{^L}', '漢a1', ['漢', '1']],
  ['[\\-\\]a-c&#]+', ']-b&#d', [']-b&#']],
  ['(?<name>a)(b)', 'ab', ['ab']],
  ['\\x{1F600}|\\x41|\\u00e9', '😀Aé', ['😀', 'A', 'é']],
])('%s finds what the original finds', (source, text, found) => {
  expect(text.match(compilePattern(source))).toEqual(found);
});

test.each([
  '(a)\\1',
  '\\G',
  '\\Kx',
  '(?i:ss)',
  '(?i:ß)',
  '\\p{NoSuch}',
  '[a',
  '(a',
  'a)',
  '*',
  '(?~a)',
  '[[:nosuch:]]',
  '[a-\\d]',
  '\\R',
])('%s is refused by its text', source => {
  expect(() => compilePattern(source)).toThrow(
    expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining(source) }),
  );
});

test('a text as it is finds itself, whatever it has for an expression', () => {
  const text = 'a.*[b](c)\\d^$|{2}/-&&';
  expect(`x${text}y`.match(literalPattern(text))).toEqual([text]);
});
