// What escapes and names of Oniguruma stand for in JavaScript's `v` mode.

const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}';

/** Members of the class that an escape stands for; a capital letter stands for all others. */
export const ESCAPED_CLASSES: Readonly<Record<string, string>> = {
  s: '\\p{White_Space}',
  d: '\\p{Nd}',
  w: WORD,
  h: '0-9a-fA-F',
};

/** `\w` outside of brackets: Oniguruma counts the numbers of Latin-1 that are not digits as parts of words there, and no others. */
export const LONE_WORD = `${WORD}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be`;

/** Members of `[:name:]`. */
export const NAMED_CLASSES: Readonly<Record<string, string>> = {
  alpha: '\\p{Alphabetic}',
  digit: '\\p{Nd}',
  alnum: '\\p{Alphabetic}\\p{Nd}',
  space: '\\p{White_Space}',
  upper: '\\p{Uppercase}',
  lower: '\\p{Lowercase}',
  punct: '\\p{P}\\p{S}',
  xdigit: '0-9a-fA-F',
  word: WORD,
};

/** Characters that an escape stands for. */
export const CONTROLS: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  f: '\f',
  v: '\v',
  a: '\x07',
  e: '\x1b',
};

/** Characters that must be escaped outside of a class, and inside of one. */
const SYNTAX = /[\\^$.*+?()[\]{}|/]/;
const CLASS_SYNTAX = /[\\^()[\]{}|/\-&!#%,:;<=>@`~.$*+?]/;

export const isSyntax = (character: string): boolean => SYNTAX.test(character);

export function escapeCharacter(character: string): string {
  return isSyntax(character) ? `\\${character}` : character;
}

export function escapeInClass(character: string): string {
  return CLASS_SYNTAX.test(character) ? `\\${character}` : character;
}

/** The escape of a property of Unicode or of a script, or undefined. */
export function propertyEscape(name: string, isNegated: boolean): string | undefined {
  const letter = isNegated ? '\\P' : '\\p';
  for (const property of [name, `Script=${name}`]) {
    try {
      new RegExp(`${letter}{${property}}`, 'v');
      return `${letter}{${property}}`;
    } catch {
      // The next name, or that of a class.
    }
  }
  const lower = name.toLowerCase();
  // In braces the name is the one of the category, which has no symbols.
  const named = lower === 'punct' ? '\\p{P}' : NAMED_CLASSES[lower];
  return named === undefined ? undefined : `[${isNegated ? '^' : ''}${named}]`;
}
