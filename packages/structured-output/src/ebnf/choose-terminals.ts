// Splits an EBNF grammar into lexer terminals and parser rules. llguidance matches a terminal a hundred times faster than a
// rule of single characters, but its lexer is greedy (longest match, no backtracking), so a part becomes a terminal only
// where that cannot change the language: `find-unsafe-terminals.ts` decides.
//
// A grammar that is regular as a whole is one terminal, unless something follows it.

import { type EbnfGrammar, type EbnfNode, referencedRules } from './ebnf-node.ts';
import { findUnsafeTerminals } from './find-unsafe-terminals.ts';
import { type LexemeBytes, lexemeBytes } from './lexeme-bytes.ts';
import { isNullable, type PlanContext, type PlanNode, planRules } from './rule-plan.ts';

/** A larger grammar keeps single characters: the analysis is superlinear. Unit: characters and references. */
const MAX_PARTS = 1_000;
const ANALYSIS_STEPS = 500_000;

export interface ChooseOptions {
  /** A key of the node's content: equal nodes have equal keys. */
  readonly keyOf: (node: EbnfNode) => string;
  /** The grammar is part of a larger one: text may follow. */
  readonly isPart: boolean;
}

/** The rules, with the safe parts as terminals. */
export function chooseTerminals(
  rules: EbnfGrammar,
  { keyOf, isPart }: ChooseOptions,
): ReadonlyMap<string, PlanNode> {
  const regular = findRules(rules, (node, found) =>
    [...referencedRules(node)].every(name => found.has(name)),
  );
  const root = rules.get('root')!;
  if (!isPart && regular.has('root'))
    return new Map([['root', { kind: 'lexeme', key: keyOf(root), node: root }]]);
  const nullable = findRules(rules, isNullable);
  const bytes = new Map<string, LexemeBytes | null>();
  const budget = { steps: ANALYSIS_STEPS };
  const bytesOf = (key: string, node: EbnfNode): LexemeBytes | null => {
    if (!bytes.has(key)) bytes.set(key, lexemeBytes(node, rules, budget));
    return bytes.get(key)!;
  };
  const rejected = new Set<string>();
  const context: PlanContext = {
    rules,
    regular,
    nullable,
    keyOf,
    isTerminal: (key, node) => !rejected.has(key) && bytesOf(key, node) !== null,
  };
  if (countParts(rules) > MAX_PARTS) return planRules({ ...context, isTerminal: () => false });
  // A rejected terminal is split into smaller ones, which may conflict with others.
  for (;;) {
    const plans = planRules(context);
    const unsafe = findUnsafeTerminals(plans, { nullable, isPart, bytesOf: key => bytes.get(key)! });
    if (unsafe.size === 0) return plans;
    for (const key of unsafe) rejected.add(key);
  }
}

/** Least fixed point: the rules for which `holds`, given the others found. */
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
