// EBNF rules -> Lark. Rules that are regular become terminals, which llguidance reads a hundred times faster than
// rules of single characters, as far as that cannot change the language (see choose-terminals.ts).

import type { ConstraintLimits } from '../../../request/constraint-spec.ts';
import { larkLiteral } from '../lark.ts';
import { chooseTerminals } from './choose-terminals.ts';
import type { CharacterRanges, EbnfNode } from './ebnf-node.ts';
import { parseEbnf } from './parse-ebnf.ts';

/** A grammar of the whole answer. Throws: `invalid_request` naming the line. */
export function ebnfToLark(text: string, limits: ConstraintLimits): string {
  const { definitions, start } = ebnfToRules(text, limits, '');
  return `start: ${start}\n${definitions}`;
}

/** Rules to stand in a larger grammar, whose names all begin with `prefix`. */
export function ebnfToRules(
  text: string,
  limits: ConstraintLimits,
  prefix: string,
): { readonly definitions: string; readonly start: string } {
  const rules = parseEbnf(text, limits);
  const terminals = chooseTerminals(rules);
  const names = new Map(
    [...rules.keys()].map((name, i) => [
      name,
      terminals.has(name) ? `${prefix.toUpperCase()}T${i}` : `${prefix}r${i}`,
    ]),
  );
  const lines = [...rules].map(([name, node]) => {
    const isTerminal = terminals.has(name);
    return `${names.get(name)}: ${print(node, isTerminal, rule => names.get(rule)!)}`;
  });
  return { definitions: `${lines.join('\n')}\n`, start: names.get('root')! };
}

/**
 * Outside terminals every literal is split into its characters: llguidance takes the longest of several literals,
 * where the grammar may need a shorter one.
 */
function print(node: EbnfNode, isTerminal: boolean, nameOf: (rule: string) => string): string {
  switch (node.kind) {
    case 'characters':
      return `/[${printRanges(node.ranges)}]/`;
    case 'text':
      if (node.text === '') return '""';
      return isTerminal ? larkLiteral(node.text) : `(${[...node.text].map(larkLiteral).join(' ')})`;
    case 'rule':
      return nameOf(node.name);
    case 'sequence':
      return node.items.length === 0
        ? '""'
        : `(${node.items.map(item => print(item, isTerminal, nameOf)).join(' ')})`;
    case 'choice':
      return `(${node.items.map(item => print(item, isTerminal, nameOf)).join(' | ')})`;
    case 'repeat': {
      const { least, most } = node;
      const item = print(node.item, isTerminal, nameOf);
      if (most === 0) return '""';
      if (most === null && least < 2) return `(${item})${least === 0 ? '*' : '+'}`;
      return `(${item}){${least},${most ?? ''}}`;
    }
  }
}

function printRanges(ranges: CharacterRanges): string {
  const code = (point: number) => `\\u{${point.toString(16)}}`;
  return ranges.map(([low, high]) => (low === high ? code(low) : `${code(low)}-${code(high)}`)).join('');
}
