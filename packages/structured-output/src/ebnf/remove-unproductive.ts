// Unproductive rules of EBNF, which derive no finite text, such as `a ::= "x" a`. Alternatives that refer to one are removed:
// the language stays the same, and no generation enters them. Called by `parse-ebnf.ts`.

import { refuse } from '../refuse.ts';
import type { EbnfGrammar, EbnfNode } from './ebnf-node.ts';

const EMPTY: EbnfNode = { kind: 'sequence', items: [] };

/** The same language with productive rules only. Throws: `invalid_constraint` naming a rule when `root` is unproductive. */
export function removeUnproductive(rules: EbnfGrammar): EbnfGrammar {
  const productive = findProductive(rules);
  if (productive.size === rules.size) return rules;
  if (!productive.has('root')) {
    const name = findSelfReference(rules, productive);
    refuse(`grammar, rule ${name}`, `Nothing satisfies the grammar: the rule ${name} has no end`);
  }
  const kept = new Map<string, EbnfNode>();
  for (const [name, node] of rules) if (productive.has(name)) kept.set(name, prune(node, productive));
  return kept;
}

/** Names of the rules that derive a finite text. */
function findProductive(rules: EbnfGrammar): ReadonlySet<string> {
  const productive = new Set<string>();
  // Rules mostly refer to later ones: from the back few rounds are enough.
  const open = [...rules].reverse();
  let before = -1;
  while (before !== productive.size) {
    before = productive.size;
    for (const [name, node] of open)
      if (!productive.has(name) && isProductive(node, productive)) productive.add(name);
  }
  return productive;
}

function isProductive(node: EbnfNode, productive: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case 'characters':
    case 'text':
      return true;
    case 'rule':
      return productive.has(node.name);
    case 'sequence':
      return node.items.every(item => isProductive(item, productive));
    case 'choice':
      return node.items.some(item => isProductive(item, productive));
    case 'repeat':
      return node.min === 0 || isProductive(node.item, productive);
  }
}

/** For a productive node. */
function prune(node: EbnfNode, productive: ReadonlySet<string>): EbnfNode {
  switch (node.kind) {
    case 'characters':
    case 'text':
    case 'rule':
      return node;
    case 'sequence':
      return { ...node, items: node.items.map(item => prune(item, productive)) };
    case 'choice': {
      const items = node.items
        .filter(item => isProductive(item, productive))
        .map(item => prune(item, productive));
      return items.length === 1 ? items[0]! : { ...node, items };
    }
    case 'repeat':
      return isProductive(node.item, productive) ? { ...node, item: prune(node.item, productive) } : EMPTY;
  }
}

/** An unproductive rule on the path from `root` that refers to itself. */
function findSelfReference(rules: EbnfGrammar, productive: ReadonlySet<string>): string {
  const seen = new Set<string>();
  let name = 'root';
  while (!seen.has(name)) {
    seen.add(name);
    name = firstUnproductive(rules.get(name)!, productive)!;
  }
  return name;
}

/** The first rule that makes a node unproductive. */
function firstUnproductive(node: EbnfNode, productive: ReadonlySet<string>): string | undefined {
  if (isProductive(node, productive)) return undefined;
  if (node.kind === 'rule') return node.name;
  if (node.kind === 'repeat') return firstUnproductive(node.item, productive);
  if (node.kind !== 'sequence' && node.kind !== 'choice') return undefined;
  for (const item of node.items) {
    const name = firstUnproductive(item, productive);
    if (name !== undefined) return name;
  }
  return undefined;
}
