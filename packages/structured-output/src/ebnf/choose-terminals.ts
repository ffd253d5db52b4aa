// Which parts of an EBNF grammar may be terminals. llguidance reads terminals a hundred times faster than rules of single
// characters, but greedily: a terminal goes on as long as it can, and of several only those live that the next byte
// fits. So a part becomes one only where neither can make a difference to the language, which `find-unsafe-terminals.ts`
// finds out.
//
// A grammar that is regular as a whole is one terminal, when nothing follows it.

import type { EbnfGrammar, EbnfNode } from './ebnf-node.ts';
import { findUnsafeTerminals } from './find-unsafe-terminals.ts';
import { type LexemeBytes, lexemeBytes } from './lexeme-bytes.ts';
import { isNullable, type PlanContext, type PlanNode, planRules } from './rule-plan.ts';
import { rulesIn } from './rules-in.ts';

/** A larger grammar keeps its characters: the look at it grows faster than it does. Unit: texts, characters and names. */
const MOST_PARTS = 1_000;
const LOOK_STEPS = 500_000;

export interface ChooseOptions {
  /** Names a node by what it says. */
  readonly keyOf: (node: EbnfNode) => string;
  /** Something may follow the grammar's text. */
  readonly isPart: boolean;
}

/** The rules in which the safe parts are terminals. */
export function chooseTerminals(
  rules: EbnfGrammar,
  { keyOf, isPart }: ChooseOptions,
): ReadonlyMap<string, PlanNode> {
  const regular = findRules(rules, (node, found) => [...rulesIn(node)].every(name => found.has(name)));
  const root = rules.get('root')!;
  if (!isPart && regular.has('root'))
    return new Map([['root', { kind: 'lexeme', key: keyOf(root), node: root }]]);
  const nullable = findRules(rules, isNullable);
  const bytes = new Map<string, LexemeBytes | null>();
  const budget = { steps: LOOK_STEPS };
  const bytesOf = (key: string, node: EbnfNode): LexemeBytes | null => {
    if (!bytes.has(key)) bytes.set(key, lexemeBytes(node, rules, budget));
    return bytes.get(key)!;
  };
  const refused = new Set<string>();
  const context: PlanContext = {
    rules,
    regular,
    nullable,
    keyOf,
    isTerminal: (key, node) => !refused.has(key) && bytesOf(key, node) !== null,
  };
  if (countParts(rules) > MOST_PARTS) return planRules({ ...context, isTerminal: () => false });
  // Refusing one splits it into parts, which may be in the way of others.
  for (;;) {
    const plans = planRules(context);
    const unsafe = findUnsafeTerminals(plans, { nullable, isPart, bytesOf: key => bytes.get(key)! });
    if (unsafe.size === 0) return plans;
    for (const key of unsafe) refused.add(key);
  }
}

/** The smallest set of rules of which each one holds with the others in the set. */
function findRules(
  rules: EbnfGrammar,
  holds: (node: EbnfNode, found: ReadonlySet<string>) => boolean,
): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...rules].reverse();
  let before = -1;
  while (before !== found.size) {
    before = found.size;
    for (const [name, node] of open) if (!found.has(name) && holds(node, found)) found.add(name);
  }
  return found;
}

function countParts(rules: EbnfGrammar): number {
  const count = (node: EbnfNode): number => {
    if (node.kind === 'repeat') return count(node.item);
    if (node.kind === 'sequence' || node.kind === 'choice')
      return node.items.reduce((sum, item) => sum + count(item), 0);
    return node.kind === 'text' ? node.text.length : 1;
  };
  return [...rules.values()].reduce((sum, node) => sum + count(node), 0);
}
