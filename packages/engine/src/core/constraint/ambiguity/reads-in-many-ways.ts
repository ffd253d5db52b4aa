// Whether a repetition reads some text in exponentially many ways.

import { type CharacterSet, overlap } from './character-set.ts';
import type { PositionAutomaton } from './position-automaton.ts';
import type { WorkBudget } from './work-budget.ts';

/**
 * Whether there are two ways from a state to itself over the same text: then each time that this text is repeated doubles the
 * ways, and a matcher that backtracks tries them all. In the automaton of a loop every state leads to every other, so two
 * ways between any two states are enough. They are looked for by following two ways at once, from where they part until
 * they meet.
 *
 * Source: the criterion EDA of Weber and Seidl, On the degree of ambiguity of finite automata (1991), on automata that keep
 * several ways between two states, as Weideman et al., Analyzing matching time behavior of backtracking regular
 * expression matchers by using ambiguity of NFA (2016), need for empty iterations.
 *
 * Throws: `PatternTooLarge`.
 */
export function readsInManyWays({ sets, follow }: PositionAutomaton, budget: WorkBudget): boolean {
  const overlaps = createOverlaps(sets, budget);
  const next = follow.map(ways => [...ways.keys()]);
  if (follow.some(ways => [...ways.values()].some(count => count > 1))) return true;
  const seen = new Set<number>();
  const open: (readonly [number, number])[] = [];
  const visit = (a: number, b: number): void => {
    const key = Math.min(a, b) * sets.length + Math.max(a, b);
    if (a === b || seen.has(key) || !overlaps(a, b)) return;
    seen.add(key);
    open.push([a, b]);
  };
  for (const states of next) {
    budget.spend(states.length ** 2);
    for (const [i, a] of states.entries()) for (const b of states.slice(i + 1)) visit(a, b);
  }
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [a, b] = pair;
    budget.spend(next[a]!.length * next[b]!.length + 1);
    for (const x of next[a]!) {
      if (follow[b]!.has(x)) return true;
      for (const y of next[b]!) visit(x, y);
    }
  }
  return false;
}

/** Whether two states can read the same character. Most states share their set with others, so answers are kept by set. */
function createOverlaps(
  sets: readonly CharacterSet[],
  budget: WorkBudget,
): (a: number, b: number) => boolean {
  const ids = new Map<string, number>();
  const idOf = sets.map(set => {
    budget.spend(set.length);
    const key = set.join();
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return id;
  });
  const known = new Map<number, boolean>();
  return (a, b) => {
    const key = idOf[a]! * sets.length + idOf[b]!;
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    budget.spend(sets[a]!.length + sets[b]!.length);
    const found = overlap(sets[a]!, sets[b]!);
    known.set(key, found);
    return found;
  };
}
