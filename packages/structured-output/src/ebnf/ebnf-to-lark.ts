// EBNF -> Lark: parser rules and lexer terminals, as `choose-terminals.ts` splits them.

import type { ConstraintLimits } from '../constraint-spec.ts';
import { larkLiteral, larkRegex } from '../lark/write-lark.ts';
import { chooseTerminals } from './choose-terminals.ts';
import type { CharacterRanges, EbnfGrammar, EbnfNode } from './ebnf-node.ts';
import { parseEbnf } from './parse-ebnf.ts';
import type { PlanNode } from './rule-plan.ts';

/** Largest terminal with its rules inlined: rules that refer to others twice double it. */
const MAX_REGEX_PARTS = 10_000;

export interface LarkRules {
  readonly definitions: string;
  readonly start: string;
}

/** A grammar of the whole answer. Throws: `invalid_constraint` naming the line. */
export function ebnfToLark(text: string, limits: ConstraintLimits): string {
  const { definitions, start } = new LarkWriter(parseEbnf(text, limits), '').write(false);
  return `start: ${start}\n${definitions}`;
}

/** Rules for a larger grammar; their names all begin with `prefix`. Throws: as `ebnfToLark`. */
export function ebnfToRules(text: string, limits: ConstraintLimits, prefix: string): LarkRules {
  return new LarkWriter(parseEbnf(text, limits), prefix).write(true);
}

class LarkWriter {
  readonly #rules: EbnfGrammar;
  readonly #prefix: string;
  /** Texts of terminals by their names. */
  readonly #terminals = new Map<string, string>();
  /** Names of terminals by the keys of their content. */
  readonly #names = new Map<string, string>();
  readonly #keys = new Map<EbnfNode, string>();

  constructor(rules: EbnfGrammar, prefix: string) {
    this.#rules = rules;
    this.#prefix = prefix;
  }

  write(isPart: boolean): LarkRules {
    const plans = chooseTerminals(this.#rules, { keyOf: node => this.#keyOf(node), isPart });
    const names = new Map([...plans.keys()].map((name, i) => [name, `${this.#prefix}r${i}`]));
    const lines = [...plans].map(([name, plan]) => `${names.get(name)}: ${this.#printPlan(plan, names)}`);
    const terminals = [...this.#terminals].map(([name, text]) => `${name}: ${text}`);
    return { definitions: `${[...lines, ...terminals].join('\n')}\n`, start: names.get('root')! };
  }

  #printPlan(plan: PlanNode, names: ReadonlyMap<string, string>): string {
    switch (plan.kind) {
      case 'lexeme':
        return plan.node.kind === 'characters'
          ? printCharacters(plan.node.ranges)
          : this.#nameTerminal(plan.key, plan.node);
      case 'rule':
        return names.get(plan.name)!;
      case 'sequence':
      case 'choice':
        return printItems(
          plan.kind,
          plan.items.map(item => this.#printPlan(item, names)),
        );
      case 'repeat':
        return printRepeat(this.#printPlan(plan.item, names), plan.min, plan.max);
    }
  }

  #nameTerminal(key: string, node: EbnfNode): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = `${this.#prefix.toUpperCase()}T${this.#names.size}`;
    this.#names.set(key, name);
    const text = this.#inlinedSize(node) <= MAX_REGEX_PARTS ? this.#regex(node) : this.#compose(node);
    this.#terminals.set(name, text);
    return name;
  }

  /** A terminal made of others, one for each rule. */
  #compose(node: EbnfNode): string {
    return printNode(node.kind === 'rule' ? this.#rules.get(node.name)! : node, each =>
      this.#nameTerminal(this.#keyOf(each), each),
    );
  }

  /** Characters of a terminal with its rules inlined; exact up to the limit only. */
  #inlinedSize(node: EbnfNode): number {
    if (node.kind === 'rule') return this.#inlinedSize(this.#rules.get(node.name)!);
    if (node.kind === 'characters') return 1;
    if (node.kind === 'text') return node.text.length;
    if (node.kind === 'repeat') return this.#inlinedSize(node.item);
    let size = 0;
    for (const item of node.items) {
      size += 1 + this.#inlinedSize(item);
      if (size > MAX_REGEX_PARTS) return size;
    }
    return size;
  }

  /** In a group: an empty pattern between slashes would begin a comment. */
  #regex(node: EbnfNode): string {
    return larkRegex(`(?:${this.#printRegex(node)})`);
  }

  /** As one regular expression: llguidance breaks on some alternatives inside alternatives when it joins terminals itself. */
  #printRegex(node: EbnfNode): string {
    switch (node.kind) {
      case 'characters':
        return `[${printRanges(node.ranges)}]`;
      case 'text':
        return node.text.replace(/[^A-Za-z0-9_ ]/gu, character => printCode(character.codePointAt(0)!));
      case 'rule':
        return this.#printRegex(this.#rules.get(node.name)!);
      case 'sequence':
        return node.items.map(item => this.#printRegex(item)).join('');
      case 'choice':
        return `(?:${node.items.map(item => this.#printRegex(item)).join('|')})`;
      case 'repeat': {
        const { min, max } = node;
        const bounds = max === null && min < 2 ? (min === 0 ? '*' : '+') : `{${min},${max ?? ''}}`;
        return max === 0 ? '' : `(?:${this.#printRegex(node.item)})${bounds}`;
      }
    }
  }

  #keyOf(node: EbnfNode): string {
    const known = this.#keys.get(node);
    if (known !== undefined) return known;
    const key = printNode(node, each => `<${each.name}>`);
    this.#keys.set(node, key);
    return key;
  }
}

/** A node as a terminal. */
function printNode(node: EbnfNode, printName: (rule: Extract<EbnfNode, { kind: 'rule' }>) => string): string {
  switch (node.kind) {
    case 'characters':
      return printCharacters(node.ranges);
    case 'text':
      return larkLiteral(node.text);
    case 'rule':
      return printName(node);
    case 'sequence':
    case 'choice':
      return printItems(
        node.kind,
        node.items.map(item => printNode(item, printName)),
      );
    case 'repeat':
      return printRepeat(printNode(node.item, printName), node.min, node.max);
  }
}

function printItems(kind: 'sequence' | 'choice', items: readonly string[]): string {
  return items.length === 0 ? '""' : `(${items.join(kind === 'sequence' ? ' ' : ' | ')})`;
}

function printRepeat(item: string, min: number, max: number | null): string {
  if (max === 0) return '""';
  if (max === null && min < 2) return `(${item})${min === 0 ? '*' : '+'}`;
  if (min === 0 && max === 1) return `(${item})?`;
  return `(${item}){${min},${max ?? ''}}`;
}

function printCharacters(ranges: CharacterRanges): string {
  return `/[${printRanges(ranges)}]/`;
}

function printRanges(ranges: CharacterRanges): string {
  return ranges
    .map(([low, high]) => (low === high ? printCode(low) : `${printCode(low)}-${printCode(high)}`))
    .join('');
}

function printCode(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
