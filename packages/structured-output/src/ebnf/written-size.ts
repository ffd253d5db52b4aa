// How large a rule is once its counted repetitions are written out.

import type { EbnfNode } from './ebnf-node.ts';

/** Characters and names of rules in the node, each as often as the counts around it say. */
export function writtenSize(node: EbnfNode): number {
  switch (node.kind) {
    case 'characters':
    case 'rule':
      return 1;
    case 'text':
      return node.text.length;
    case 'sequence':
    case 'choice':
      return node.items.reduce((sum, item) => sum + writtenSize(item), 0);
    case 'repeat':
      return writtenSize(node.item) * Math.max(1, node.most ?? node.least);
  }
}
