// What an automaton that reads a terminal byte by byte can see: the bytes it may begin with, and those with which it may go
// on when it could also end. Called by `choose-terminals.ts`.

import type { CharacterRanges, EbnfGrammar, EbnfNode } from './ebnf-node.ts';

/** Which of 256 bytes: a bit for each. */
export type ByteSet = Uint32Array;

export interface LexemeBytes {
  readonly first: ByteSet;
  /** Behind a whole text of the terminal, when a longer text of it begins so. */
  readonly further: ByteSet;
}

/** Characters of a terminal with its repetitions written out; larger ones are not looked at. */
const MOST_PLACES = 300;

/** Work that is left for the terminals of one grammar, in pairs of places that may match the same text. */
export interface LookBudget {
  steps: number;
}

/**
 * Null for a terminal that is too large to be looked at. It is not recursive, and no text of it is empty.
 * Mutates: `budget`.
 */
export function lexemeBytes(node: EbnfNode, rules: EbnfGrammar, budget: LookBudget): LexemeBytes | null {
  const places = new Places(rules);
  const whole = places.add(node);
  if (whole === null) return null;
  const first = emptySet();
  for (const place of whole.first) addLeads(first, places.ranges[place]!);
  const further = places.findFurther(whole, budget);
  return further === null ? null : { first, further };
}

export function emptySet(): ByteSet {
  return new Uint32Array(8);
}

/** Mutates: `set`. */
export function addSet(set: ByteSet, other: ByteSet): void {
  for (let word = 0; word < 8; word++) set[word]! |= other[word]!;
}

export function meets(a: ByteSet, b: ByteSet): boolean {
  for (let word = 0; word < 8; word++) if ((a[word]! & b[word]!) !== 0) return true;
  return false;
}

/** The first bytes of the characters in UTF-8. Mutates: `set`. */
export function addLeads(set: ByteSet, ranges: CharacterRanges): void {
  for (const [low, high] of ranges)
    for (let byte = lead(low); byte <= lead(high); byte++) set[byte >>> 5]! |= 1 << (byte & 31);
}

function lead(code: number): number {
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
}

/** A part of the terminal: where its texts begin and end. */
interface Part {
  readonly isNullable: boolean;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

const EMPTY: Part = { isNullable: true, first: [], last: [] };

/** The characters of a terminal as numbered places, and which place may follow which. Source: Glushkov's construction. */
class Places {
  readonly ranges: CharacterRanges[] = [];
  readonly #next: number[][] = [];
  readonly #rules: EbnfGrammar;

  constructor(rules: EbnfGrammar) {
    this.#rules = rules;
  }

  /** Null when there are too many places. */
  add(node: EbnfNode): Part | null {
    switch (node.kind) {
      case 'characters':
        return this.#place(node.ranges);
      case 'text':
        return this.#inARow(
          [...node.text].map(character => {
            const code = character.codePointAt(0)!;
            return () => this.#place([[code, code]]);
          }),
        );
      case 'rule':
        return this.add(this.#rules.get(node.name)!);
      case 'sequence':
        return this.#inARow(node.items.map(item => () => this.add(item)));
      case 'choice':
        return this.#anyOf(node.items);
      case 'repeat':
        return this.#repeat(node.item, node.least, node.most);
    }
  }

  /** Null when it takes too long. */
  findFurther({ first, last }: Part, budget: LookBudget): ByteSet | null {
    const further = emptySet();
    const ends = new Set(last);
    const seen = new Set<number>();
    /** Pairs of places that the same text leads to. */
    const open: number[] = [];
    const pair = (some: readonly number[], others: readonly number[]): void => {
      for (const a of some)
        for (const b of others) {
          budget.steps--;
          const key = a * MOST_PLACES + b;
          if (seen.has(key) || !intersect(this.ranges[a]!, this.ranges[b]!)) continue;
          seen.add(key);
          open.push(key);
        }
    };
    pair(first, first);
    for (let key = open.pop(); key !== undefined; key = open.pop()) {
      if (budget.steps < 0) return null;
      const a = Math.floor(key / MOST_PLACES);
      const b = key % MOST_PLACES;
      if (ends.has(a)) for (const place of this.#next[b]!) addLeads(further, this.ranges[place]!);
      pair(this.#next[a]!, this.#next[b]!);
    }
    return further;
  }

  #place(ranges: CharacterRanges): Part | null {
    const place = this.ranges.length;
    if (place === MOST_PLACES) return null;
    this.ranges.push(ranges);
    this.#next.push([]);
    return { isNullable: false, first: [place], last: [place] };
  }

  #inARow(parts: readonly (() => Part | null)[]): Part | null {
    let whole = EMPTY;
    for (const add of parts) {
      const part = add();
      if (part === null) return null;
      whole = this.#join(whole, part);
    }
    return whole;
  }

  #join(before: Part, after: Part): Part {
    this.#connect(before.last, after.first);
    return {
      isNullable: before.isNullable && after.isNullable,
      first: before.isNullable ? [...before.first, ...after.first] : before.first,
      last: after.isNullable ? [...before.last, ...after.last] : after.last,
    };
  }

  #anyOf(nodes: readonly EbnfNode[]): Part | null {
    const parts: Part[] = [];
    for (const node of nodes) {
      const part = this.add(node);
      if (part === null) return null;
      parts.push(part);
    }
    return {
      isNullable: parts.some(part => part.isNullable),
      first: parts.flatMap(part => part.first),
      last: parts.flatMap(part => part.last),
    };
  }

  #repeat(item: EbnfNode, least: number, most: number | null): Part | null {
    let whole = EMPTY;
    const copies = most ?? Math.max(1, least);
    for (let count = 1; count <= copies; count++) {
      const part = this.add(item);
      if (part === null) return null;
      if (most === null && count === copies) this.#connect(part.last, part.first);
      whole = this.#join(whole, count > least ? { ...part, isNullable: true } : part);
    }
    return whole;
  }

  #connect(from: readonly number[], to: readonly number[]): void {
    for (const place of from)
      for (const next of to) if (!this.#next[place]!.includes(next)) this.#next[place]!.push(next);
  }
}

function intersect(a: CharacterRanges, b: CharacterRanges): boolean {
  return a.some(([low, high]) => b.some(([from, to]) => low <= to && from <= high));
}
