// Classes and escapes of regular expressions -> the characters they stand for.

import {
  ANY_CHARACTER,
  type CharacterSet,
  complement,
  foldCase,
  intersection,
  setOf,
  setOfProperty,
  setOfText,
  union,
} from './character-set.ts';
import { ECMA_SPACE, POSIX_CLASSES } from './class-names.ts';
import { type RegexNotation, UnreadableRegex } from './regex-node.ts';
import type { RegexText } from './regex-text.ts';
import { PatternTooLarge, type WorkBudget } from './work-budget.ts';

/** How the characters of a class are to be read. */
export interface ClassReading {
  readonly notation: RegexNotation;
  readonly ignoresCase: boolean;
  /** Blanks in Rust's classes mean nothing. */
  readonly isSpaced: boolean;
  readonly budget: WorkBudget;
}

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', v: '\v', f: '\f' };
const HEX = /\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2})/y;
const UNICODE = /\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4})/y;
const LONG_UNICODE = /\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{8})/y;
const LOW_SURROGATE = /\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})/y;
const PROPERTY = /\{(\^?)([\w =]+)\}|()([A-Z])/y;
const POSIX = /\[:(\^?)([a-z]+):\]/y;
const OPERATOR = /&&|--|~~/y;
/** To look for its characters takes tens of milliseconds, once. */
const PROPERTY_STEPS = 20_000;
/** Classes in classes; Rust's own limit for a whole expression is 250. */
const MOST_NESTING = 50;

/** Behind the backslash. Throws: `UnreadableRegex`. */
export function readEscape(text: RegexText, { notation, budget }: ClassReading): CharacterSet {
  const letter = text.next();
  const isNegated = letter !== letter.toLowerCase();
  const negatable = (set: CharacterSet) => (isNegated ? complement(set) : set);
  switch (letter.toLowerCase()) {
    case 'd':
      return negatable(setOf([0x30, 0x39]));
    case 'w':
      return negatable(POSIX_CLASSES.word!);
    case 's':
      return negatable(notation === 'ecma' ? ECMA_SPACE : POSIX_CLASSES.space!);
    case 'p':
      return negatable(readProperty(text, budget));
  }
  const control = CONTROLS[letter];
  if (control !== undefined) return setOfText(control);
  if (letter === 'x') return setOfCode(text.match(HEX), letter);
  if (letter === 'u') return readUnicode(text);
  if (notation === 'rust') {
    if (letter === 'U') return setOfCode(text.match(LONG_UNICODE), letter);
    if (letter === 'a') return setOfText('\x07');
  } else {
    if (letter === '0') return setOfText('\0');
    if (letter === 'c') return setOfText(String.fromCharCode(text.next().charCodeAt(0) % 32));
  }
  if (/[0-9]/.test(letter)) throw new UnreadableRegex('An octal escape');
  return setOfText(letter);
}

/** Behind the opening bracket. Throws: `UnreadableRegex`. */
export function readClass(text: RegexText, reading: ClassReading, nesting = 0): CharacterSet {
  if (nesting > MOST_NESTING) throw new PatternTooLarge('Classes in classes');
  const isRust = reading.notation === 'rust';
  const isNegated = text.take('^');
  let before: CharacterSet | null = null;
  let operator = '';
  let items: CharacterSet[] = [];
  const joined = () => combine(before, operator, union(...items));
  for (let isFirst = true; ; isFirst = false) {
    if (text.isAtEnd) throw new UnreadableRegex('A class without an end');
    const isLiteral = isRust && isFirst && text.startsWith(']');
    if (!isLiteral && text.take(']')) break;
    reading.budget.spend(1);
    const found = isRust ? text.match(OPERATOR) : null;
    if (found === null) items.push(readItem(text, reading, nesting));
    else {
      before = joined();
      operator = found[0];
      items = [];
    }
  }
  const set = reading.ignoresCase ? foldCase(joined()) : joined();
  return isNegated ? complement(set) : set;
}

function combine(before: CharacterSet | null, operator: string, set: CharacterSet): CharacterSet {
  if (before === null) return set;
  if (operator === '&&') return intersection(before, set);
  const without = intersection(before, complement(set));
  return operator === '--' ? without : union(without, intersection(set, complement(before)));
}

/** A character, a range, or a class inside the class. */
function readItem(text: RegexText, reading: ClassReading, nesting: number): CharacterSet {
  if (reading.notation === 'rust') {
    if (reading.isSpaced && text.match(/\s+/y) !== null) return [];
    const posix = text.match(POSIX);
    if (posix !== null) {
      const set = POSIX_CLASSES[posix[2]!];
      if (set === undefined) throw new UnreadableRegex('An unknown class');
      return posix[1] === '^' ? complement(set) : set;
    }
    if (text.take('[')) return readClass(text, reading, nesting + 1);
  }
  const first = readCharacter(text, reading);
  const isOperator = reading.notation === 'rust' && text.startsWith('--');
  if (!text.startsWith('-') || text.startsWith('-]') || isOperator) return first;
  const start = text.at++;
  const last = text.startsWith('[') && reading.notation === 'rust' ? null : readCharacter(text, reading);
  const [low, high] = [codeOf(first), last === null ? null : codeOf(last)];
  if (low !== null && high !== null && low <= high) return setOf([low, high]);
  // Beside a class the hyphen is a hyphen.
  text.at = start + 1;
  return union(first, setOfText('-'));
}

function readCharacter(text: RegexText, reading: ClassReading): CharacterSet {
  if (!text.take('\\')) return setOfText(text.next());
  return text.take('b') ? setOfText('\b') : readEscape(text, reading);
}

function codeOf(set: CharacterSet): number | null {
  return set.length === 1 && set[0]![0] === set[0]![1] ? set[0]![0] : null;
}

function readProperty(text: RegexText, budget: WorkBudget): CharacterSet {
  const match = text.match(PROPERTY);
  const name = match?.[2] ?? match?.[4] ?? '';
  budget.spend(PROPERTY_STEPS);
  const set = name === 'Any' ? ANY_CHARACTER : setOfProperty(name);
  if (set === null) throw new UnreadableRegex('An unknown property of characters');
  return match?.[1] === '^' ? complement(set) : set;
}

function readUnicode(text: RegexText): CharacterSet {
  const set = setOfCode(text.match(UNICODE), 'u');
  const code = codeOf(set)!;
  if (code < 0xd800 || code > 0xdbff) return set;
  // Two escaped surrogates are one character.
  const low = text.match(LOW_SURROGATE);
  if (low === null) return set;
  const character = 0x10000 + (code - 0xd800) * 0x400 + Number.parseInt(low[1]!, 16) - 0xdc00;
  return setOf([character, character]);
}

function setOfCode(match: RegExpExecArray | null, letter: string): CharacterSet {
  if (match === null) return setOfText(letter);
  const code = Number.parseInt(match[1] ?? match[2]!, 16);
  if (code > 0x10ffff) throw new UnreadableRegex('A character past the last one');
  return setOf([code, code]);
}
