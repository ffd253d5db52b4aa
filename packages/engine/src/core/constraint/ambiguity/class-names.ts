// The named sets of characters of regular expressions.

import { type CharacterSet, setOf, setOfText, union } from './character-set.ts';

const DIGIT = setOf([0x30, 0x39]);
const LOWER = setOf([0x61, 0x7a]);
const UPPER = setOf([0x41, 0x5a]);
const PUNCT = setOf([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]);

/** `\s` of ECMA-262. */
export const ECMA_SPACE: CharacterSet = union(
  setOf([0x09, 0x0d], [0x2000, 0x200a]),
  setOfText(' \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'),
);

/** The line ends of ECMA-262, which its dot does not stand for. */
export const ECMA_LINE_END: CharacterSet = setOfText('\n\r\u2028\u2029');

/** Names in double brackets, `[[:alpha:]]`; `\w` and `\s` of a request are `word` and `space`. */
export const POSIX_CLASSES: Readonly<Record<string, CharacterSet>> = {
  alnum: union(DIGIT, LOWER, UPPER),
  alpha: union(LOWER, UPPER),
  ascii: setOf([0, 0x7f]),
  blank: setOfText('\t '),
  cntrl: setOf([0, 0x1f], [0x7f, 0x7f]),
  digit: DIGIT,
  graph: setOf([0x21, 0x7e]),
  lower: LOWER,
  print: setOf([0x20, 0x7e]),
  punct: PUNCT,
  space: union(setOf([0x09, 0x0d]), setOfText(' ')),
  upper: UPPER,
  word: union(DIGIT, LOWER, UPPER, setOfText('_')),
  xdigit: setOf([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]),
};
