// Terminals by which llguidance, which reads greedily, would read another language than the rules say. One is safe when
//
// - behind a whole text of it, no byte can both go on with it and begin what follows it;
// - wherever it may begin, nothing else that may begin there begins with the same byte.

import { findFollowSets } from './follow-sets.ts';
import { addLeads, addSet, type ByteSet, emptySet, type LexemeBytes, meets } from './lexeme-bytes.ts';
import type { PlanNode } from './rule-plan.ts';

/** Stands for what comes behind a grammar that is part of a larger one: it may be anything. */
const OUTSIDE = 'outside';

export interface TerminalFacts {
  /** Rules that the empty text satisfies. */
  readonly nullable: ReadonlySet<string>;
  /** Something may follow the grammar's text. */
  readonly isPart: boolean;
  /** Of terminals that are more than one character. */
  readonly bytesOf: (key: string) => LexemeBytes;
}

interface Terminals {
  readonly bytes: ReadonlyMap<string, LexemeBytes>;
  /** Those of one character, which end by themselves. */
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
  for (const place of [start, ...placesBehind(after, terminals)]) addMeeting(place, terminals, unsafe);
  for (const [key, followers] of after) {
    if (single.has(key)) continue;
    const next = emptySet();
    for (const other of followers) addSet(next, bytes.get(other)!.first);
    if (meets(bytes.get(key)!.further, next)) unsafe.add(key);
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
      addLeads(first, plan.node.ranges);
      bytes.set(plan.key, { first, further: emptySet() });
      single.add(plan.key);
    } else if (plan.kind === 'lexeme') bytes.set(plan.key, bytesOf(plan.key));
  };
  for (const plan of plans.values()) collect(plan);
  return { bytes, single };
}

/** What may begin behind each terminal; behind characters that may be the same one, whatever may follow either. */
function placesBehind(
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
      if (!meets(group.bytes, bytes)) continue;
      addSet(bytes, group.bytes);
      for (const other of group.after) joined.add(other);
      groups.splice(at, 1);
      // What was passed may meet the larger group.
      at = groups.length;
    }
    groups.push({ bytes, after: joined });
  }
  return [...places, ...groups.map(group => group.after)];
}

/** Adds the terminals of one place that begin like something else there. Mutates: `unsafe`. */
function addMeeting(place: ReadonlySet<string>, { bytes, single }: Terminals, unsafe: Set<string>): void {
  for (const key of place) {
    if (single.has(key) || unsafe.has(key)) continue;
    const { first } = bytes.get(key)!;
    for (const other of place) if (other !== key && meets(first, bytes.get(other)!.first)) unsafe.add(key);
  }
}
