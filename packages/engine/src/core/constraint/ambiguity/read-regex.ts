// A regular expression -> its tree. For ECMA-262 and for the syntax of Rust's regex crate, which differ in classes, flags and
// escapes. Reads generously: what the text must not hold is refused elsewhere.

import { ANY_CHARACTER, type CharacterSet, complement, foldCase, setOfText } from './character-set.ts';
import { ECMA_LINE_END } from './class-names.ts';
import { type ClassReading, readClass, readEscape } from './read-character-class.ts';
import { type RegexNode, type RegexNotation, UnreadableRegex } from './regex-node.ts';
import { RegexText } from './regex-text.ts';
import { PatternTooLarge, type WorkBudget } from './work-budget.ts';

const EMPTY: RegexNode = { kind: 'sequence', items: [] };
const CONDITION: RegexNode = { kind: 'condition' };
const BOUNDS = /\{(\d+)(?:(,)(\d*))?\}/y;
const GROUP_NAME = /P?<[^>=!][^>]*>/y;
const FLAGS = /([A-Za-z]*)(?:-([A-Za-z]+))?([:)])/y;
const LOOK = /<?[=!]/y;
const SPACE_OR_COMMENT = /(?:\s|#[^\n]*)+/y;
const REFERENCE = /[1-9]\d*|k<[^>]*>/y;
/** Groups in groups: as deep as Rust's reader goes. */
const MOST_NESTING = 250;

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly x: boolean;
}

/** Throws: `UnreadableRegex`, `PatternTooLarge`. */
export function readRegex(source: string, notation: RegexNotation, budget: WorkBudget): RegexNode {
  return new RegexReader(source, notation, budget).read();
}

class RegexReader {
  readonly #text: RegexText;
  readonly #notation: RegexNotation;
  readonly #budget: WorkBudget;
  #flags: Flags = { i: false, m: false, s: false, x: false };
  #nesting = 0;

  constructor(source: string, notation: RegexNotation, budget: WorkBudget) {
    this.#text = new RegexText(source);
    this.#notation = notation;
    this.#budget = budget;
  }

  read(): RegexNode {
    const node = this.#readChoice();
    if (!this.#text.isAtEnd) throw new UnreadableRegex('A bracket closes no group');
    return node;
  }

  #readChoice(): RegexNode {
    const items: RegexNode[] = [];
    do items.push(this.#readSequence());
    while (this.#text.take('|'));
    return items.length === 1 ? items[0]! : { kind: 'choice', items };
  }

  #readSequence(): RegexNode {
    const items: RegexNode[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#text.isAtEnd || this.#text.startsWith('|') || this.#text.startsWith(')')) break;
      items.push(this.#readTerm());
    }
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  /** With all its repetitions: Rust lets one follow another. */
  #readTerm(): RegexNode {
    const text = this.#text;
    const start = text.at;
    let node = this.#readAtom();
    for (let count = 0; ; ) {
      this.#skipSpace();
      const bounds = this.#readBounds();
      if (bounds === null) return node;
      if (++count > MOST_NESTING) throw new PatternTooLarge('Repetitions of repetitions');
      // Laziness changes what is tried first, not how much there is to try.
      text.take('?');
      node = { kind: 'repeat', content: node, ...bounds, source: text.source.slice(start, text.at) };
    }
  }

  #readBounds(): { readonly least: number; readonly most: number } | null {
    const text = this.#text;
    if (text.take('*')) return { least: 0, most: Infinity };
    if (text.take('+')) return { least: 1, most: Infinity };
    if (text.take('?')) return { least: 0, most: 1 };
    const match = text.match(BOUNDS);
    if (match === null) return null;
    const [, low, comma, high] = match;
    const least = Number(low);
    return { least, most: comma === undefined ? least : high === '' ? Infinity : Number(high) };
  }

  #readAtom(): RegexNode {
    const text = this.#text;
    const character = text.next();
    switch (character) {
      case '(':
        return this.#readGroup();
      case '[':
        return { kind: 'set', set: readClass(text, this.#reading()) };
      case '\\':
        return this.#readEscaped();
      case '.':
        return { kind: 'set', set: this.#dot() };
      case '^':
        return CONDITION;
      case '$':
        return this.#flags.m ? CONDITION : { kind: 'end' };
      case '*':
      case '+':
      case '?':
        throw new UnreadableRegex('A repetition of nothing');
      default:
        return { kind: 'set', set: this.#folded(setOfText(character)) };
    }
  }

  #readGroup(): RegexNode {
    const text = this.#text;
    const outer = this.#flags;
    if (this.#nesting >= MOST_NESTING) throw new PatternTooLarge('Groups in groups');
    let looks = false;
    if (text.take('?')) {
      if (text.match(LOOK) !== null) looks = true;
      else if (text.match(GROUP_NAME) === null) {
        if (text.match(/P=\w+\)/y) !== null) return CONDITION;
        const flags = text.match(FLAGS);
        if (flags === null) throw new UnreadableRegex('An unknown kind of group');
        this.#flags = withFlags(outer, flags[1]!, flags[2] ?? '');
        // They hold to the end of the group around.
        if (flags[3] === ')') return EMPTY;
      }
    }
    this.#nesting++;
    const content = this.#readChoice();
    this.#nesting--;
    if (!text.take(')')) throw new UnreadableRegex('A group without an end');
    this.#flags = outer;
    return looks ? { kind: 'condition', content } : content;
  }

  #readEscaped(): RegexNode {
    const text = this.#text;
    if (text.startsWith('z') && this.#notation === 'rust') {
      text.at++;
      return { kind: 'end' };
    }
    const isBoundary = text.match(this.#notation === 'rust' ? /[bBA<>](?:\{[a-z-]+\})?/y : /[bB]/y) !== null;
    if (isBoundary || text.match(REFERENCE) !== null) return CONDITION;
    return { kind: 'set', set: this.#folded(readEscape(text, this.#reading())) };
  }

  #dot(): CharacterSet {
    if (this.#flags.s) return ANY_CHARACTER;
    return complement(this.#notation === 'ecma' ? ECMA_LINE_END : setOfText('\n'));
  }

  #folded(set: CharacterSet): CharacterSet {
    return this.#flags.i ? foldCase(set) : set;
  }

  #reading(): ClassReading {
    const { i, x } = this.#flags;
    return { notation: this.#notation, ignoresCase: i, isSpaced: x, budget: this.#budget };
  }

  #skipSpace(): void {
    if (this.#flags.x) this.#text.match(SPACE_OR_COMMENT);
  }
}

function withFlags(flags: Flags, on: string, off: string): Flags {
  const next: Record<string, boolean> = { ...flags };
  for (const letter of on) next[letter] = true;
  for (const letter of off) next[letter] = false;
  return next as unknown as Flags;
}
