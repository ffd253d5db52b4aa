// Regular expressions of JSON Schema (ECMA-262) -> the syntax of Rust's regex crate that llguidance reads, with the
// meaning kept: ASCII `\d` and `\w`, JavaScript's white space and line ends, anchors turned into a whole match.

import { isEscapedInJson, NOTHING, toJsonStringSet } from './json-string-set.ts';

/** A pattern that no regular grammar expresses; the message names the construct. */
export class UntranslatablePattern extends Error {
  override readonly name = 'UntranslatablePattern';
}

const SPACE =
  ' \\t\\n\\v\\f\\r\\u{A0}\\u{1680}\\u{2000}-\\u{200A}\\u{2028}\\u{2029}\\u{202F}\\u{205F}\\u{3000}\\u{FEFF}';
/** Contents of character classes. */
const CLASSES: Readonly<Record<string, string>> = {
  d: '0-9',
  w: 'A-Za-z0-9_',
  s: SPACE,
};
const CONTROLS: Readonly<Record<string, string>> = { n: '\\n', r: '\\r', t: '\\t', v: '\\v', f: '\\f' };
const ANY_CHARACTER = '(?s:.)';
const ANYTHING = '(?s:.)*';
const NO_LINE_END = '[^\\n\\r\\u{2028}\\u{2029}]';

export interface TranslatedPattern {
  /** Matches the whole of a string. */
  readonly pattern: string;
  /** False when it matches more: U+007F in the place of a character that JSON escapes. */
  readonly isExact: boolean;
}

/**
 * A pattern that matches the whole of those strings in which `source` finds a match, when llguidance reads it as the
 * pattern of a JSON string. Strings with U+0001 are matched only where quotes and backslashes may stand too:
 * `json-string-set.ts` says why.
 *
 * Throws: `UntranslatablePattern` for look-around, back-references, word boundaries and anchors in the middle;
 * SyntaxError when `source` is not a regular expression.
 */
export function translateSearchPattern(source: string): TranslatedPattern {
  const reader = new PatternReader(source, compileEcma(source).unicode);
  const full = reader
    .readAll()
    .map(
      ({ body, startsAnchored, endsAnchored }) =>
        `${startsAnchored ? '' : ANYTHING}${body}${endsAnchored ? '' : ANYTHING}`,
    );
  return { pattern: `(?:${full.join('|')})`, isExact: !reader.hasCompanions };
}

/** The pattern as JavaScript compiles it. Throws: SyntaxError. */
export function compileEcma(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    // Older schemas escape characters that need none, which only the mode without the flag allows.
    return new RegExp(source);
  }
}

interface Branch {
  readonly body: string;
  readonly startsAnchored: boolean;
  readonly endsAnchored: boolean;
}

/** Reads a pattern that JavaScript has accepted, so its syntax is known to be right. */
class PatternReader {
  readonly #source: string;
  readonly #isUnicode: boolean;
  /** A character stands in the result as a set of two. */
  hasCompanions = false;
  #at = 0;

  constructor(source: string, isUnicode: boolean) {
    this.#source = source;
    this.#isUnicode = isUnicode;
  }

  /** The alternatives at the top, where anchors have a meaning that can be kept. */
  readAll(): readonly Branch[] {
    const branches: Branch[] = [];
    do branches.push(this.#readBranch());
    while (this.#take('|'));
    return branches;
  }

  #readBranch(): Branch {
    let startsAnchored = false;
    while (this.#take('^')) startsAnchored = true;
    let body = '';
    let endsAnchored = false;
    while (this.#at < this.#source.length && this.#peek() !== '|') {
      if (this.#take('$')) {
        endsAnchored = true;
        if (this.#at < this.#source.length && !'|$'.includes(this.#peek())) this.#anchorInside();
        continue;
      }
      body += this.#readTerm();
    }
    return { body, startsAnchored, endsAnchored };
  }

  #readAlternatives(): string {
    let result = '';
    while (this.#at < this.#source.length && this.#peek() !== ')')
      result += this.#take('|') ? '|' : this.#readTerm();
    return result;
  }

  #readTerm(): string {
    const atom = this.#readAtom();
    return atom + this.#readQuantifier();
  }

  #readAtom(): string {
    const character = this.#next();
    switch (character) {
      case '(':
        return this.#readGroup();
      case '[':
        return this.#asSet(() => this.#readClass());
      case '\\':
        return this.#asSet(() => this.#readEscape());
      case '.':
        return NO_LINE_END;
      case '^':
      case '$':
        return this.#anchorInside();
      default:
        return isEscapedInJson(character)
          ? this.#asSet(() => escapeCharacter(character))
          : escapeCharacter(character);
    }
  }

  /** The set or character that `read` translates, in a form that llguidance reads right. Its first character was read before. */
  #asSet(read: () => string): string {
    const start = this.#at - 1;
    const written = read();
    const set = new RegExp(`^${this.#source.slice(start, this.#at)}$`, this.#isUnicode ? 'u' : '');
    const { pattern, isExact } = toJsonStringSet(set, written);
    if (!isExact) this.hasCompanions = true;
    return pattern;
  }

  #readGroup(): string {
    if (this.#take('?')) {
      if (!this.#take(':')) {
        const look = /^(?:<?[=!])/.exec(this.#source.slice(this.#at));
        if (look !== null) throw new UntranslatablePattern('look-around');
        if (!this.#take('<')) throw new UntranslatablePattern('modifiers inside a pattern');
        this.#at = this.#source.indexOf('>', this.#at) + 1;
      }
    }
    const body = this.#readAlternatives();
    this.#at++;
    return `(?:${body})`;
  }

  #readQuantifier(): string {
    const match = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(this.#source.slice(this.#at, this.#at + 64));
    if (match === null) return '';
    this.#at += match[0].length;
    // Laziness changes what is matched first, never whether a string matches.
    this.#take('?');
    return match[0];
  }

  #readEscape(): string {
    const character = this.#next();
    if (character === 'b' || character === 'B') throw new UntranslatablePattern('word boundaries');
    if (/[1-9]/.test(character) || character === 'k') throw new UntranslatablePattern('back-references');
    const named = CLASSES[character.toLowerCase()];
    if (named !== undefined) return `[${character === character.toLowerCase() ? '' : '^'}${named}]`;
    if (character === 'p' || character === 'P') return this.#readProperty(character);
    return this.#readEscapedCharacter(character);
  }

  #readProperty(character: string): string {
    if (!this.#isUnicode) return character;
    const end = this.#source.indexOf('}', this.#at) + 1;
    const property = this.#source.slice(this.#at, end);
    this.#at = end;
    return `\\${character}${property}`;
  }

  #readEscapedCharacter(character: string): string {
    const control = CONTROLS[character];
    if (control !== undefined) return control;
    if (character === '0') return '\\x00';
    if (character === 'c') return codePoint(this.#next().charCodeAt(0) % 32);
    const hex = { x: /^[0-9A-Fa-f]{2}/, u: /^(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]+\})/ }[character];
    const digits = hex?.exec(this.#source.slice(this.#at))?.[0];
    if (digits === undefined) return escapeCharacter(character);
    this.#at += digits.length;
    const code = Number.parseInt(digits.replace(/[{}]/g, ''), 16);
    if (code < 0xd800 || code > 0xdfff) return codePoint(code);
    // Two escaped surrogates are one character; a single one never occurs in text.
    const low = /^\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})/.exec(this.#source.slice(this.#at));
    if (code > 0xdbff || low === null) throw new UntranslatablePattern('single surrogates');
    this.#at += low[0].length;
    return codePoint(0x10000 + (code - 0xd800) * 0x400 + Number.parseInt(low[1]!, 16) - 0xdc00);
  }

  #readClass(): string {
    const negated = this.#take('^');
    let items = '';
    while (!this.#take(']')) items += this.#readClassItem();
    // Rust has no empty class, so the two patterns of JavaScript get other names.
    if (items === '') return negated ? ANY_CHARACTER : NOTHING;
    return `[${negated ? '^' : ''}${items}]`;
  }

  #readClassItem(): string {
    const character = this.#next();
    if (character !== '\\') return character === '-' ? this.#readHyphen() : escapeInClass(character);
    const escaped = this.#next();
    if (escaped === 'b') return '\\x08';
    if (escaped === '-') return '\\-';
    const named = CLASSES[escaped.toLowerCase()];
    if (named !== undefined) return escaped === escaped.toLowerCase() ? named : `[^${named}]`;
    if (escaped === 'p' || escaped === 'P') return this.#readProperty(escaped);
    if (/[1-9]/.test(escaped)) throw new UntranslatablePattern('octal escapes');
    const item = this.#readEscapedCharacter(escaped);
    return item.length === 1 ? escapeInClass(item) : item;
  }

  /** A hyphen is a range between two characters and itself at an edge or beside a class. */
  #readHyphen(): string {
    const before = this.#source[this.#at - 2];
    const isAtEdge = before === '[' || before === '^' || this.#peek() === ']';
    const besideClass = /\\[dwsDWS]$/.test(this.#source.slice(0, this.#at - 1));
    const aheadOfClass = /^\\[dwsDWS]/.test(this.#source.slice(this.#at, this.#at + 2));
    return isAtEdge || besideClass || aheadOfClass ? '\\-' : '-';
  }

  #anchorInside(): never {
    throw new UntranslatablePattern('anchors in the middle');
  }

  #peek(): string {
    return this.#source[this.#at] ?? '';
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  /** One character, which may be two code units. */
  #next(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    this.#at += character.length;
    return character;
  }
}

function codePoint(code: number): string {
  return `\\u{${code.toString(16).toUpperCase()}}`;
}

function escapeCharacter(character: string): string {
  return /[\\.+*?()|[\]{}^$#&~-]/.test(character) ? `\\${character}` : character;
}

/** Rust reads `&&`, `--`, `~~` and `[` in a class as operators. */
function escapeInClass(character: string): string {
  return /[\\[\]&~^]/.test(character) ? `\\${character}` : character;
}
