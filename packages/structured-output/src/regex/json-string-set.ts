// Character classes inside the pattern of a JSON string, written around two bugs of llguidance:
//
// A set that holds all control characters is written with all short escapes of JSON, so `[^"]` would let `\"` through. Sets
// without the quote or the backslash therefore do without U+0001, and so do texts: no union of them can be such a set.
//
// A text that ends in, or has, a character that JSON escapes hides what follows it: `\\[xy]` would be a backslash alone.
// Such a character is therefore written as a set of two.

/** Characters that JSON must escape. U+007F needs none, but llguidance escapes it. */
const ESCAPED = [...Array(0x20).keys(), 0x22, 0x5c].map(code => String.fromCharCode(code));
/** Enough others to tell a set from one character. */
const PLAIN = Array.from({ length: 0x300 - 0x20 }, (_, i) => String.fromCharCode(i + 0x20)).filter(
  character => !ESCAPED.includes(character),
);
/** The control character that sets do without, and the one that joins a character which stands alone. */
const MISSING = '\u0001';
const COMPANION = '\\x7F';
/** A set that holds no character. */
export const NOTHING = '[^\\u{0}-\\u{10FFFF}]';

export interface JsonStringSet {
  readonly pattern: string;
  /** False when it matches more: U+007F in the place of a character that JSON escapes. */
  readonly isExact: boolean;
}

/** Whether a character that stands for itself must be written as a set. */
export function isEscapedInJson(character: string): boolean {
  return ESCAPED.includes(character);
}

/** `set` matches its characters in JavaScript; `written` is the same in Rust's syntax. */
export function toJsonStringSet(set: RegExp, written: string): JsonStringSet {
  const escaped = ESCAPED.filter(character => set.test(character));
  if (escaped.length === 0) return { pattern: written, isExact: true };
  if (set.test('"') && set.test('\\')) return { pattern: written, isExact: true };
  const others = escaped.includes(MISSING) ? `[${written}--\\x01]` : written;
  const [first, ...more] = escaped.filter(character => character !== MISSING);
  if (more.length > 0 || PLAIN.some(character => set.test(character)))
    return { pattern: others, isExact: true };
  if (first === undefined) return { pattern: NOTHING, isExact: true };
  return { pattern: `[${others}${COMPANION}]`, isExact: false };
}
