// How much work a regular expression of a tokenizer can make of a text. JavaScript matches by backtracking, and expressions come
// with models, which are not trusted with the time of the thread that serves all requests. Caller: cheap-stages.ts.
//
// A text of n characters costs at most about factor * n^(exponent + 1) steps: from each character on, each repetition without an
// end that may have to give back what it matched multiplies the ways by n. A repetition that nothing follows which could fail gives
// nothing back. A repetition of something that can match in several ways may take exponential time.

import { type PatternNode, parsePattern } from './parse-pattern.ts';

interface Cost {
  readonly exponent: number;
  readonly factor: number;
  /** Whether the text ahead is read once in each way of what comes before. */
  readonly scans: boolean;
}

/** Repetitions up to this number are a factor, longer ones a power. */
const SMALL_COUNT = 16;
/** Repetitions of parts that can match in several ways multiply the ways of each turn. */
const MOST_TURNS = 4;
/** Factors of linear and of quadratic expressions that are cheap. */
const CHEAP_FACTORS: readonly number[] = [256, 16];
/** Each alternative is tried at each character. Unit: UTF-16 code units. */
const LONGEST_PATTERN = 8_192;

const ONE: Cost = { exponent: 0, factor: 1, scans: false };
const ENDLESS: Cost = { ...ONE, exponent: Number.POSITIVE_INFINITY };

/**
 * Whether a text of two thousand characters is matched within a fraction of a second, whatever it is.
 * @param pattern As `compilePattern` translates it.
 */
export function isCheapPattern(pattern: string): boolean {
  if (pattern.length > LONGEST_PATTERN) return false;
  const { exponent, factor, scans } = settled(costOf(parsePattern(pattern), false));
  return factor <= (CHEAP_FACTORS[exponent + Number(scans)] ?? 0);
}

/** `mayFailAfter`: what follows may fail, and then other ways to match are tried. */
function costOf(node: PatternNode, mayFailAfter: boolean): Cost {
  switch (node.kind) {
    case 'character':
      return ONE;
    case 'look': {
      // Look-behind is matched backwards: there what comes before may fail after.
      const cost = costOf(node.of, node.isBehind);
      return { ...cost, scans: cost.scans || (cost.exponent === 0 && isEndless(node.of)) };
    }
    case 'sequence': {
      let cost = ONE;
      let mayFail = mayFailAfter;
      for (const item of node.items.toReversed()) {
        cost = product(cost, costOf(item, mayFail));
        mayFail ||= canFail(item);
      }
      return cost;
    }
    case 'choice': {
      const costs = node.options.map(option => settled(costOf(option, mayFailAfter)));
      const exponent = Math.max(...costs.map(cost => cost.exponent));
      const factors = costs.filter(cost => cost.exponent === exponent).map(({ factor }) => factor);
      const isSum = mayFailAfter || exponent > 0;
      const factor = isSum ? sum(factors) : Math.max(...factors);
      return { exponent, factor, scans: exponent === 0 && costs.some(({ scans }) => scans) };
    }
    case 'repeat':
      return costOfRepeat(node, mayFailAfter);
  }
}

function costOfRepeat(
  { of, min, max }: Extract<PatternNode, { kind: 'repeat' }>,
  mayFailAfter: boolean,
): Cost {
  const count = max - min + 1;
  if (isFixed(of)) {
    if (!mayFailAfter) return ONE;
    return count > SMALL_COUNT ? { ...ONE, exponent: 1 } : { ...ONE, factor: count };
  }
  // The turn that fails ends the repetition, and those before it are kept.
  if (!mayFailAfter && min <= 1) return costOf(of, false);
  if (max > MOST_TURNS) return ENDLESS;
  const turn = costOf(of, mayFailAfter || max > 1);
  let cost = ONE;
  for (let i = 0; i < max; i++) cost = product(cost, turn);
  return mayFailAfter && count > 1 ? { ...cost, factor: cost.factor + 1 } : cost;
}

/** Whether it matches in one way only, from where it begins. */
function isFixed(node: PatternNode): boolean {
  switch (node.kind) {
    case 'character':
      return true;
    case 'sequence':
      return node.items.every(isFixed);
    case 'repeat':
      return node.min === node.max && isFixed(node.of);
    default:
      return false;
  }
}

/** Whether what it matches has no longest length. */
function isEndless(node: PatternNode): boolean {
  switch (node.kind) {
    case 'character':
      return false;
    case 'sequence':
      return node.items.some(isEndless);
    case 'choice':
      return node.options.some(isEndless);
    case 'repeat':
      return node.max > SMALL_COUNT || isEndless(node.of);
    case 'look':
      return isEndless(node.of);
  }
}

function canFail(node: PatternNode): boolean {
  switch (node.kind) {
    case 'sequence':
      return node.items.some(canFail);
    case 'choice':
      return node.options.every(canFail);
    case 'repeat':
      return node.min > 0 && canFail(node.of);
    default:
      return true;
  }
}

/** Of a part that nothing repeats: what is read in each of its ways is a power more. */
function settled(cost: Cost): Cost {
  return cost.scans && cost.exponent > 0 ? { ...cost, exponent: cost.exponent + 1, scans: false } : cost;
}

function product(a: Cost, b: Cost): Cost {
  return { exponent: a.exponent + b.exponent, factor: a.factor * b.factor, scans: a.scans || b.scans };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
