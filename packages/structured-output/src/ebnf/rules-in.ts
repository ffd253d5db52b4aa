// Which rules a part of an EBNF grammar mentions.

import type { EbnfNode } from './ebnf-node.ts';

/** Names of the rules that a node mentions, each once. */
export function rulesIn(node: EbnfNode, found = new Set<string>()): ReadonlySet<string> {
  if (node.kind === 'rule') found.add(node.name);
  else if (node.kind === 'repeat') rulesIn(node.item, found);
  else if (node.kind === 'sequence' || node.kind === 'choice')
    for (const item of node.items) rulesIn(item, found);
  return found;
}
