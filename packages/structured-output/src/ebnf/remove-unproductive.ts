// EBNF rules that no text ends, such as `a ::= "x" a`: alternatives that lead into one are left out, which changes nothing
// about the language, so that no answer walks into them. Called by `parse-ebnf.ts`.

import { refuse } from '../refuse.ts';
import type { EbnfGrammar, EbnfNode } from './ebnf-node.ts';

const EMPTY: EbnfNode = { kind: 'sequence', items: [] };

/** The same language, in which every rule has a text. Throws: `invalid_constraint` naming a rule when `root` has none. */
export function removeEndless(rules: EbnfGrammar): EbnfGrammar {
  const ending = findEnding(rules);
  if (ending.size === rules.size) return rules;
  if (!ending.has('root')) {
    const name = findSelf(rules, ending);
    refuse(`grammar, rule ${name}`, `Nothing satisfies the grammar: the rule ${name} has no end`);
  }
  const left = new Map<string, EbnfNode>();
  for (const [name, node] of rules) if (ending.has(name)) left.set(name, prune(node, ending));
  return left;
}

/** Names of the rules that some finite text satisfies. */
function findEnding(rules: EbnfGrammar): ReadonlySet<string> {
  const ending = new Set<string>();
  // Rules mostly use those behind them, so few rounds are enough from the back.
  const open = [...rules].reverse();
  let before = -1;
  while (before !== ending.size) {
    before = ending.size;
    for (const [name, node] of open) if (!ending.has(name) && ends(node, ending)) ending.add(name);
  }
  return ending;
}

function ends(node: EbnfNode, ending: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case 'characters':
    case 'text':
      return true;
    case 'rule':
      return ending.has(node.name);
    case 'sequence':
      return node.items.every(item => ends(item, ending));
    case 'choice':
      return node.items.some(item => ends(item, ending));
    case 'repeat':
      return node.least === 0 || ends(node.item, ending);
  }
}

/** Of a node that ends. */
function prune(node: EbnfNode, ending: ReadonlySet<string>): EbnfNode {
  switch (node.kind) {
    case 'characters':
    case 'text':
    case 'rule':
      return node;
    case 'sequence':
      return { ...node, items: node.items.map(item => prune(item, ending)) };
    case 'choice': {
      const items = node.items.filter(item => ends(item, ending)).map(item => prune(item, ending));
      return items.length === 1 ? items[0]! : { ...node, items };
    }
    case 'repeat':
      return ends(node.item, ending) ? { ...node, item: prune(node.item, ending) } : EMPTY;
  }
}

/** A rule on the way from `root` that leads back to itself. */
function findSelf(rules: EbnfGrammar, ending: ReadonlySet<string>): string {
  const seen = new Set<string>();
  let name = 'root';
  while (!seen.has(name)) {
    seen.add(name);
    name = firstEndless(rules.get(name)!, ending)!;
  }
  return name;
}

/** The first rule that keeps a node from its end. */
function firstEndless(node: EbnfNode, ending: ReadonlySet<string>): string | undefined {
  if (ends(node, ending)) return undefined;
  if (node.kind === 'rule') return node.name;
  if (node.kind === 'repeat') return firstEndless(node.item, ending);
  if (node.kind !== 'sequence' && node.kind !== 'choice') return undefined;
  for (const item of node.items) {
    const name = firstEndless(item, ending);
    if (name !== undefined) return name;
  }
  return undefined;
}
