// Parts of a tag that are patterns with texts around them. As one terminal they are exact: apart, the lexer reads as much as fits a
// pattern, also the text after it.

import { larkLiteral, larkRegex } from '../lark/write-lark.ts';
import type { TagNode } from '../tag-node.ts';

/** `isPlain`: whether a text has no special tokens, which are not text of a terminal. */
export function isRegular(node: TagNode, isPlain: (text: string) => boolean): boolean {
  switch (node.kind) {
    case 'text':
      return isPlain(node.text);
    case 'regex':
      return true;
    case 'sequence':
    case 'choice':
      return node.items.every(item => isRegular(item, isPlain));
    default:
      return false;
  }
}

/** More patterns in a row may cost too much as one terminal: a text fits them in too many ways. */
export const PATTERN_LIMIT = 4;

/** Patterns that a text goes through, one after the other. */
export function countPatterns(nodes: readonly TagNode[]): number {
  const count = (node: TagNode): number => {
    if (node.kind === 'sequence') return countPatterns(node.items);
    if (node.kind === 'choice') return Math.max(0, ...node.items.map(count));
    return node.kind === 'regex' ? 1 : 0;
  };
  return nodes.reduce((sum, node) => sum + count(node), 0);
}

/** The body of a terminal for regular nodes in a row. `toRegex`: a pattern in the syntax of llguidance. */
export function toTerminal(
  nodes: readonly TagNode[],
  toRegex: (pattern: string, place: string) => string,
): string {
  const write = (node: TagNode): string => {
    switch (node.kind) {
      case 'text':
        return node.text === '' ? '/(?:)/' : larkLiteral(node.text);
      case 'regex':
        return larkRegex(toRegex(node.pattern, node.place));
      case 'choice':
        return `(${node.items.map(write).join(' | ')})`;
      case 'sequence':
        return `(${node.items.map(write).join(' ')})`;
      default:
        throw new Error(`A part of the kind ${node.kind} is not a terminal.`);
    }
  };
  return nodes.map(write).join(' ');
}
