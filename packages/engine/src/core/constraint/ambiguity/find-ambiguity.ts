// Finds the part of a pattern that makes matchers that backtrack try exponentially many ways before they give up.

import { type CharacterSet, complement, union } from './character-set.ts';
import { buildLoop } from './position-automaton.ts';
import { readRegex } from './read-regex.ts';
import { readsInManyWays } from './reads-in-many-ways.ts';
import type { RegexNode, RegexNotation, RepeatNode } from './regex-node.ts';
import { WorkBudget } from './work-budget.ts';

export interface AmbiguityOptions {
  readonly notation: RegexNotation;
  /** Whether the whole text must match, or the pattern is looked for anywhere in it. */
  readonly extent: 'whole' | 'search';
}

/**
 * From here on a bounded count acts as an unbounded one: ten parts of a text of 100 characters can be cut in C(99, 9) =
 * 1.7e12 ways. Below, the ways are a power of the length.
 */
export const MANY_TIMES = 10;
const MOST_STEPS = 200_000;

/**
 * The smallest repetition, as it is written, that reads some text in exponentially many ways, where something behind it can
 * make the match fail, so that all of them are tried; null when there is none. Conditions (look-around, anchors, word
 * boundaries, back-references) inside a repetition are taken to let nothing through: what is found is ambiguous
 * without them.
 *
 * Throws: `UnreadableRegex`, `PatternTooLarge`.
 */
export function findAmbiguity(pattern: string, { notation, extent }: AmbiguityOptions): string | null {
  const budget = new WorkBudget(MOST_STEPS);
  const rest: Rest = { canFail: extent === 'whole', canFailAtEnd: false };
  return new AmbiguityFinder(budget).find(readRegex(pattern, notation, budget), rest)?.source ?? null;
}

/** What stands behind a part, up to the end of the pattern. */
interface Rest {
  /** There may be texts here that it does not match. */
  readonly canFail: boolean;
  /** It may not match the end of the text. */
  readonly canFailAtEnd: boolean;
}

const NO_REST: Rest = { canFail: false, canFailAtEnd: false };

class AmbiguityFinder {
  readonly #budget: WorkBudget;

  constructor(budget: WorkBudget) {
    this.#budget = budget;
  }

  /** Smaller parts come before those they are in. */
  find(node: RegexNode, rest: Rest): RepeatNode | null {
    this.#budget.spend(1);
    switch (node.kind) {
      case 'sequence':
        return this.#findInSequence(node.items, rest);
      case 'choice':
        return firstOf(node.items, item => this.find(item, rest));
      case 'condition':
        return node.content === undefined ? null : this.find(node.content, NO_REST);
      case 'repeat':
        return this.#findInRepeat(node, rest);
      default:
        return null;
    }
  }

  #findInSequence(items: readonly RegexNode[], rest: Rest): RepeatNode | null {
    let behind = rest;
    for (const item of items.toReversed()) {
      const found = this.find(item, behind);
      if (found !== null) return found;
      const canFailAtEnd = behind.canFailAtEnd || !this.#takesNothing(item, 'at the end');
      const isSure = !canFailAtEnd && takesAnyText(item);
      const canFail = !isSure && (behind.canFail || !this.#takesNothing(item, 'anywhere'));
      behind = { canFail, canFailAtEnd };
    }
    return null;
  }

  #findInRepeat(node: RepeatNode, rest: Rest): RepeatNode | null {
    const { content, least, most } = node;
    if (most === 0) return null;
    const isOnce = least <= 1;
    const behind: Rest = {
      canFail: rest.canFail || !(isOnce || this.#takesNothing(content, 'anywhere')),
      canFailAtEnd: rest.canFailAtEnd || !(isOnce || this.#takesNothing(content, 'at the end')),
    };
    const inside = this.find(content, behind);
    if (inside !== null) return inside;
    if (most < MANY_TIMES || !this.#canFail(node, rest)) return null;
    // With iterations that must be there and may be empty, it is open which of them are.
    if (least >= MANY_TIMES && this.#takesNothing(content, 'anywhere') && hasCharacters(content)) return node;
    return readsInManyWays(buildLoop(content, this.#budget), this.#budget) ? node : null;
  }

  /** Whether the match may still fail once the repetition has been read in one way: only then others are tried. */
  #canFail(node: RepeatNode, rest: Rest): boolean {
    if (node.least >= MANY_TIMES && !this.#takesNothing(node.content, 'anywhere')) return true;
    return rest.canFail && (rest.canFailAtEnd || !takesAnyText(node));
  }

  /** Whether it matches the empty text whatever stands around, or at the end of the text. */
  #takesNothing(node: RegexNode, where: 'anywhere' | 'at the end'): boolean {
    this.#budget.spend(1);
    switch (node.kind) {
      case 'set':
      case 'condition':
        return false;
      case 'end':
        return where === 'at the end';
      case 'sequence':
        return node.items.every(item => this.#takesNothing(item, where));
      case 'choice':
        return node.items.some(item => this.#takesNothing(item, where));
      case 'repeat':
        return node.least === 0 || this.#takesNothing(node.content, where);
    }
  }
}

/** Whether it can always go on to the end of the text, whatever that is. */
function takesAnyText(node: RegexNode): boolean {
  return (
    node.kind === 'repeat' &&
    node.least < MANY_TIMES &&
    node.most === Infinity &&
    complement(singleCharacters(node.content)).length === 0
  );
}

/** The characters that are a whole match of it, as far as that can be seen at once. */
function singleCharacters(node: RegexNode): CharacterSet {
  switch (node.kind) {
    case 'set':
      return node.set;
    case 'sequence':
      return node.items.length === 1 ? singleCharacters(node.items[0]!) : [];
    case 'choice':
      return union(...node.items.map(singleCharacters));
    case 'repeat':
      return node.least <= 1 && node.most >= 1 ? singleCharacters(node.content) : [];
    default:
      return [];
  }
}

function hasCharacters(node: RegexNode): boolean {
  switch (node.kind) {
    case 'set':
      return node.set.length > 0;
    case 'sequence':
    case 'choice':
      return node.items.some(hasCharacters);
    case 'repeat':
      return node.most > 0 && hasCharacters(node.content);
    default:
      return false;
  }
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | null): Found | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}
