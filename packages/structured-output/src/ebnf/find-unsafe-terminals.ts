// Terminals with which llguidance's greedy lexer would accept another language than the rules. A terminal is safe when
//
// - after a complete match, no byte both extends it and begins a terminal of its FOLLOW set;
// - wherever it may begin, no other terminal that may begin there has the same first byte.

import { findFollowSets } from './follow-sets.ts';
import {
  addLeadBytes,
  addSet,
  type ByteSet,
  emptySet,
  intersects,
  type LexemeBytes,
} from './lexeme-bytes.ts';
import type { PlanNode } from './rule-plan.ts';

/** The terminal after a grammar that is part of a larger one: any text. */
const OUTSIDE = 'outside';

export interface TerminalFacts {
  /** Rules that match the empty text. */
  readonly nullable: ReadonlySet<string>;
  /** The grammar is part of a larger one: text may follow. */
  readonly isPart: boolean;
  /** For terminals of more than one character. */
  readonly bytesOf: (key: string) => LexemeBytes;
}

interface Terminals {
  readonly bytes: ReadonlyMap<string, LexemeBytes>;
  /** Terminals of one character: they never extend. */
  readonly single: ReadonlySet<string>;
}

/** Keys of the terminals that could change the language. */
export function findUnsafeTerminals(
  plans: ReadonlyMap<string, PlanNode>,
  facts: TerminalFacts,
): ReadonlySet<string> {
  const terminals = collectTerminals(plans, facts);
  const { bytes, single } = terminals;
  const end = new Set(facts.isPart ? [OUTSIDE] : []);
  const { start, after } = findFollowSets(plans, facts.nullable, end);
  const unsafe = new Set<string>();
  for (const place of [start, ...followPlaces(after, terminals)]) addOverlapping(place, terminals, unsafe);
  for (const [key, followers] of after) {
    if (single.has(key)) continue;
    const next = emptySet();
    for (const other of followers) addSet(next, bytes.get(other)!.first);
    if (intersects(bytes.get(key)!.further, next)) unsafe.add(key);
  }
  return unsafe;
}

function collectTerminals(
  plans: ReadonlyMap<string, PlanNode>,
  { isPart, bytesOf }: TerminalFacts,
): Terminals {
  const bytes = new Map<string, LexemeBytes>();
  const single = new Set<string>();
  if (isPart) {
    const any = emptySet().fill(0xffffffff);
    bytes.set(OUTSIDE, { first: any, further: any });
    single.add(OUTSIDE);
  }
  const collect = (plan: PlanNode): void => {
    if (plan.kind === 'repeat') collect(plan.item);
    else if (plan.kind === 'sequence' || plan.kind === 'choice') for (const item of plan.items) collect(item);
    else if (plan.kind === 'lexeme' && plan.node.kind === 'characters') {
      const first = emptySet();
      addLeadBytes(first, plan.node.ranges);
      bytes.set(plan.key, { first, further: emptySet() });
      single.add(plan.key);
    } else if (plan.kind === 'lexeme') bytes.set(plan.key, bytesOf(plan.key));
  };
  for (const plan of plans.values()) collect(plan);
  return { bytes, single };
}

/** The FOLLOW set of each terminal; overlapping single characters share the union of theirs. */
function followPlaces(
  after: ReadonlyMap<string, ReadonlySet<string>>,
  { bytes: bytesOf, single }: Terminals,
): readonly ReadonlySet<string>[] {
  const places: ReadonlySet<string>[] = [];
  const groups: { readonly bytes: ByteSet; readonly after: Set<string> }[] = [];
  for (const [key, followers] of after) {
    if (!single.has(key)) {
      places.push(followers);
      continue;
    }
    const bytes = bytesOf.get(key)!.first.slice();
    const joined = new Set(followers);
    for (let at = groups.length - 1; at >= 0; at--) {
      const group = groups[at]!;
      if (!intersects(group.bytes, bytes)) continue;
      addSet(bytes, group.bytes);
      for (const other of group.after) joined.add(other);
      groups.splice(at, 1);
      // The larger group may overlap groups that were passed already.
      at = groups.length;
    }
    groups.push({ bytes, after: joined });
  }
  return [...places, ...groups.map(group => group.after)];
}

/** Adds the terminals of one place whose first bytes overlap those of another. Mutates: `unsafe`. */
function addOverlapping(place: ReadonlySet<string>, { bytes, single }: Terminals, unsafe: Set<string>): void {
  for (const key of place) {
    if (single.has(key) || unsafe.has(key)) continue;
    const { first } = bytes.get(key)!;
    for (const other of place)
      if (other !== key && intersects(first, bytes.get(other)!.first)) unsafe.add(key);
  }
}
