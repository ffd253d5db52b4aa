// The bytes by which a lexer decides on a terminal: the first byte of a match, and the byte that extends a complete match.
// Called by `choose-terminals.ts`.

import type { CharacterRanges, EbnfGrammar, EbnfNode } from './ebnf-node.ts';

/** A set of bytes as a bit mask of 256 bits. */
export type ByteSet = Uint32Array;

export interface LexemeBytes {
  readonly first: ByteSet;
  /** Bytes that extend a complete match to a longer one. */
  readonly further: ByteSet;
}

/** Largest terminal that is analysed. Unit: characters, repetitions expanded. */
const MAX_POSITIONS = 300;

/** Work left for the terminals of one grammar. Unit: pairs of positions. */
export interface AnalysisBudget {
  steps: number;
}

/**
 * Null for a terminal that is too large. It is not recursive and not nullable.
 * Mutates: `budget`.
 */
export function lexemeBytes(node: EbnfNode, rules: EbnfGrammar, budget: AnalysisBudget): LexemeBytes | null {
  const automaton = new GlushkovAutomaton(rules);
  const whole = automaton.add(node);
  if (whole === null) return null;
  const first = emptySet();
  for (const position of whole.first) addLeadBytes(first, automaton.ranges[position]!);
  const further = automaton.findFurther(whole, budget);
  return further === null ? null : { first, further };
}

export function emptySet(): ByteSet {
  return new Uint32Array(8);
}

/** Mutates: `set`. */
export function addSet(set: ByteSet, other: ByteSet): void {
  for (let word = 0; word < 8; word++) set[word]! |= other[word]!;
}

export function intersects(a: ByteSet, b: ByteSet): boolean {
  for (let word = 0; word < 8; word++) if ((a[word]! & b[word]!) !== 0) return true;
  return false;
}

/** Adds the lead bytes of the characters in UTF-8. Mutates: `set`. */
export function addLeadBytes(set: ByteSet, ranges: CharacterRanges): void {
  for (const [low, high] of ranges)
    for (let byte = leadByte(low); byte <= leadByte(high); byte++) set[byte >>> 5]! |= 1 << (byte & 31);
}

function leadByte(code: number): number {
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18);
}

/** A part of the terminal: the positions that a match may begin and end with. */
interface Part {
  readonly isNullable: boolean;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

const EMPTY: Part = { isNullable: true, first: [], last: [] };

/** The Glushkov automaton of a terminal: numbered positions (one for each character) and their followers. */
class GlushkovAutomaton {
  readonly ranges: CharacterRanges[] = [];
  readonly #next: number[][] = [];
  readonly #rules: EbnfGrammar;

  constructor(rules: EbnfGrammar) {
    this.#rules = rules;
  }

  /** Null when there are too many positions. */
  add(node: EbnfNode): Part | null {
    switch (node.kind) {
      case 'characters':
        return this.#position(node.ranges);
      case 'text':
        return this.#inARow(
          [...node.text].map(character => {
            const code = character.codePointAt(0)!;
            return () => this.#position([[code, code]]);
          }),
        );
      case 'rule':
        return this.add(this.#rules.get(node.name)!);
      case 'sequence':
        return this.#inARow(node.items.map(item => () => this.add(item)));
      case 'choice':
        return this.#anyOf(node.items);
      case 'repeat':
        return this.#repeat(node.item, node.min, node.max);
    }
  }

  /** Null when it takes too long. */
  findFurther({ first, last }: Part, budget: AnalysisBudget): ByteSet | null {
    const further = emptySet();
    const ends = new Set(last);
    const seen = new Set<number>();
    /** Pairs of positions that the same text reaches. */
    const open: number[] = [];
    const pair = (some: readonly number[], others: readonly number[]): void => {
      for (const a of some)
        for (const b of others) {
          budget.steps--;
          const key = a * MAX_POSITIONS + b;
          if (seen.has(key) || !intersect(this.ranges[a]!, this.ranges[b]!)) continue;
          seen.add(key);
          open.push(key);
        }
    };
    pair(first, first);
    for (let key = open.pop(); key !== undefined; key = open.pop()) {
      if (budget.steps < 0) return null;
      const a = Math.floor(key / MAX_POSITIONS);
      const b = key % MAX_POSITIONS;
      if (ends.has(a)) for (const position of this.#next[b]!) addLeadBytes(further, this.ranges[position]!);
      pair(this.#next[a]!, this.#next[b]!);
    }
    return further;
  }

  #position(ranges: CharacterRanges): Part | null {
    const position = this.ranges.length;
    if (position === MAX_POSITIONS) return null;
    this.ranges.push(ranges);
    this.#next.push([]);
    return { isNullable: false, first: [position], last: [position] };
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

  #repeat(item: EbnfNode, min: number, max: number | null): Part | null {
    let whole = EMPTY;
    const copies = max ?? Math.max(1, min);
    for (let count = 1; count <= copies; count++) {
      const part = this.add(item);
      if (part === null) return null;
      if (max === null && count === copies) this.#connect(part.last, part.first);
      whole = this.#join(whole, count > min ? { ...part, isNullable: true } : part);
    }
    return whole;
  }

  #connect(from: readonly number[], to: readonly number[]): void {
    for (const position of from)
      for (const next of to) if (!this.#next[position]!.includes(next)) this.#next[position]!.push(next);
  }
}

function intersect(a: CharacterRanges, b: CharacterRanges): boolean {
  return a.some(([low, high]) => b.some(([from, to]) => low <= to && from <= high));
}
