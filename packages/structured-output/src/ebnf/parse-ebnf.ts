// EBNF text (the notation of GBNF: `name ::= ...`) -> rules. Errors name the line and what was expected.

import type { ConstraintLimits } from '../constraint-spec.ts';
import { refuse } from '../refuse.ts';
import {
  complement,
  type EbnfGrammar,
  type EbnfNode,
  expandedSize,
  referencedRules,
  toRanges,
} from './ebnf-node.ts';
import { removeUnproductive } from './remove-unproductive.ts';

/** Largest bound of a counted repetition: each repetition is an Earley item. */
const MAX_REPETITIONS = 10_000;
const NAME = /[A-Za-z0-9_-]+/y;
const DEFINITION = /[A-Za-z0-9_-]+[ \t]*::=/y;
const SPACE = /(?:[ \t\r\n]|#[^\n]*)+/y;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0' };
const HEX_ESCAPES: Readonly<Record<string, RegExp>> = {
  x: /[0-9A-Fa-f]{2}/y,
  u: /[0-9A-Fa-f]{4}/y,
  U: /[0-9A-Fa-f]{8}/y,
};

/** Whether a grammar is EBNF, otherwise it is Lark, which never has two colons before an equals sign. */
export function isEbnf(text: string): boolean {
  return text.includes('::=');
}

/** Throws: `invalid_constraint` naming the line. */
export function parseEbnf(text: string, limits: ConstraintLimits): EbnfGrammar {
  const rules = new EbnfReader(text, limits).readRules();
  for (const [name, node] of rules)
    for (const used of referencedRules(node))
      if (!rules.has(used)) refuse('grammar', `The rule ${name} uses ${used}, which is not defined`);
  if (!rules.has('root'))
    refuse('grammar', 'An EBNF grammar starts with the rule root, which is not defined');
  return removeUnproductive(rules);
}

class EbnfReader {
  readonly #text: string;
  readonly #limits: ConstraintLimits;
  #at = 0;
  #depth = 0;

  constructor(text: string, limits: ConstraintLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  readRules(): EbnfGrammar {
    const rules = new Map<string, EbnfNode>();
    this.#skipSpace();
    while (this.#at < this.#text.length) {
      const definition = this.#match(DEFINITION);
      if (definition === null) this.#fail('a rule was expected: name ::= ...');
      const name = definition.replace(/[ \t]*::=$/, '');
      if (rules.has(name)) this.#fail(`the rule ${name} is defined twice`);
      if (rules.size === this.#limits.ruleCount)
        this.#fail(`more than ${this.#limits.ruleCount} rules are not allowed`);
      const node = this.#readChoice();
      const size = expandedSize(node);
      if (size > this.#limits.ruleSize)
        this.#fail(
          `with its repetitions written out the rule ${name} has ${size} characters; ${this.#limits.ruleSize} are allowed`,
        );
      rules.set(name, node);
      this.#skipSpace();
    }
    return rules;
  }

  #readChoice(): EbnfNode {
    const items: EbnfNode[] = [];
    do items.push(this.#readSequence());
    while (this.#take('|'));
    return items.length === 1 ? items[0]! : { kind: 'choice', items };
  }

  #readSequence(): EbnfNode {
    const items: EbnfNode[] = [];
    for (;;) {
      this.#skipSpace();
      const next = this.#text[this.#at];
      if (next === undefined || next === '|' || next === ')' || this.#startsRule()) break;
      items.push(this.#readQuantifiers(this.#readAtom(next)));
    }
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  #readAtom(next: string): EbnfNode {
    if (next === '"') return { kind: 'text', text: this.#readText() };
    if (next === '[') return this.#readClass();
    if (next === '.') {
      this.#at++;
      return { kind: 'characters', ranges: complement([]) };
    }
    if (next === '(') return this.#readGroup();
    const name = this.#match(NAME);
    if (name === null) this.#fail(`${JSON.stringify(next)} cannot stand here`);
    return { kind: 'rule', name };
  }

  #readGroup(): EbnfNode {
    this.#at++;
    if (this.#text[this.#at] === '=') this.#fail('look-ahead is not supported');
    if (++this.#depth > this.#limits.depth) this.#fail(`groups are nested deeper than ${this.#limits.depth}`);
    const node = this.#readChoice();
    if (!this.#take(')')) this.#fail('")" was expected');
    this.#depth--;
    return node;
  }

  #readQuantifiers(atom: EbnfNode): EbnfNode {
    let item = atom;
    // A sequence of them is legal and rare; each wraps what comes before it.
    for (let count = 0; ; count++) {
      const next = this.#text[this.#at];
      if (next === undefined || !'*+?{'.includes(next)) return item;
      if (count === this.#limits.depth) this.#fail('too many quantifiers in a row');
      this.#at++;
      if (next === '*') item = { kind: 'repeat', item, min: 0, max: null };
      else if (next === '+') item = { kind: 'repeat', item, min: 1, max: null };
      else if (next === '?') item = { kind: 'repeat', item, min: 0, max: 1 };
      else item = { kind: 'repeat', item, ...this.#readBounds() };
    }
  }

  #readBounds(): { min: number; max: number | null } {
    const bounds = this.#match(/\s*(?:\d+\s*(?:,\s*\d*)?|,\s*\d+)\s*\}/y);
    if (bounds === null) this.#fail('bounds like {2}, {2,}, {,5} or {2,5} were expected');
    const [low = '', high] = bounds.slice(0, -1).split(',');
    const min = Number(low.trim() || 0);
    const max = high === undefined ? min : high.trim() === '' ? null : Number(high);
    if (Math.max(min, max ?? 0) > MAX_REPETITIONS)
      this.#fail(`repetitions may be ${MAX_REPETITIONS} at most`);
    if (max !== null && max < min) this.#fail(`the bounds {${bounds} are the wrong way round`);
    return { min, max };
  }

  #readText(): string {
    let text = '';
    this.#at++;
    for (;;) {
      const next = this.#text[this.#at];
      if (next === undefined || next === '\n') this.#fail('a text is not closed');
      if (next === '"') break;
      text += this.#readCharacter();
    }
    this.#at++;
    return text;
  }

  #readClass(): EbnfNode {
    this.#at++;
    const isNegated = this.#text[this.#at] === '^';
    if (isNegated) this.#at++;
    const ranges: [number, number][] = [];
    while (this.#text[this.#at] !== ']') {
      if (this.#at >= this.#text.length) this.#fail('a character class is not closed');
      const low = this.#readCharacter().codePointAt(0)!;
      const isRange = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']';
      if (isRange) this.#at++;
      const high = isRange ? this.#readCharacter().codePointAt(0)! : low;
      if (high < low) this.#fail('a range of characters is the wrong way round');
      ranges.push([low, high]);
    }
    this.#at++;
    const characters = isNegated ? complement(toRanges(ranges)) : toRanges(ranges);
    if (characters.length === 0) this.#fail('a character class is empty');
    return { kind: 'characters', ranges: characters };
  }

  /** One character, escaped or not. */
  #readCharacter(): string {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    this.#at += character.length;
    if (character !== '\\') return character;
    const escaped = this.#text[this.#at];
    if (escaped === undefined) this.#fail('the grammar ends in an escape');
    this.#at++;
    const hex = HEX_ESCAPES[escaped];
    if (hex === undefined) {
      if (/[A-Za-z1-9]/.test(escaped) && ESCAPES[escaped] === undefined)
        this.#fail(`the escape \\${escaped} is not known`);
      return ESCAPES[escaped] ?? escaped;
    }
    const code = Number.parseInt(this.#match(hex) ?? 'none', 16);
    if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff))
      this.#fail(`\\${escaped} must be followed by the hexadecimal code of a character`);
    return String.fromCodePoint(code);
  }

  #startsRule(): boolean {
    DEFINITION.lastIndex = this.#at;
    return DEFINITION.test(this.#text);
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return null;
    this.#at += found.length;
    return found;
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #fail(problem: string): never {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    refuse(`grammar, line ${line}`, `EBNF: ${problem}`);
  }
}
