// The rules as llguidance gets them: the same tree, split into parser rules and lexer terminals. A character outside the
// larger terminals is a terminal of its own.

import { type EbnfGrammar, type EbnfNode, referencedRules } from './ebnf-node.ts';

export type PlanNode =
  | { readonly kind: 'lexeme'; readonly key: string; readonly node: EbnfNode }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'sequence'; readonly items: readonly PlanNode[] }
  | { readonly kind: 'choice'; readonly items: readonly PlanNode[] }
  | {
      readonly kind: 'repeat';
      readonly item: PlanNode;
      readonly min: number;
      readonly max: number | null;
    };

/** Facts about the grammar that the split needs. */
export interface PlanContext {
  readonly rules: EbnfGrammar;
  /** Rules that are not recursive. */
  readonly regular: ReadonlySet<string>;
  /** Rules that match the empty text. */
  readonly nullable: ReadonlySet<string>;
  /** A key of the node's content: equal nodes have equal keys. */
  readonly keyOf: (node: EbnfNode) => string;
  /** Whether the part may be a terminal: nothing has ruled it out yet. */
  readonly isTerminal: (key: string, node: EbnfNode) => boolean;
}

/** The rules reachable from `root`, with the largest terminals that are allowed. */
export function planRules(context: PlanContext): ReadonlyMap<string, PlanNode> {
  const plans = new Map<string, PlanNode>();
  const open = ['root'];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (plans.has(name)) continue;
    const plan = planNode(context.rules.get(name)!, context);
    plans.set(name, plan);
    open.push(...namesIn(plan));
  }
  return plans;
}

function planNode(node: EbnfNode, context: PlanContext): PlanNode {
  const { keyOf, nullable, regular } = context;
  if (node.kind === 'characters') return { kind: 'lexeme', key: keyOf(node), node };
  if (node.kind === 'text' && [...node.text].length < 2) return planCharacters(node.text, context);
  const isRegular = [...referencedRules(node)].every(name => regular.has(name));
  if (isRegular && !isNullable(node, nullable)) {
    const key = keyOf(node);
    if (context.isTerminal(key, node)) return { kind: 'lexeme', key, node };
  }
  switch (node.kind) {
    case 'text':
      return planCharacters(node.text, context);
    case 'rule':
      return { kind: 'rule', name: node.name };
    case 'sequence':
    case 'choice':
      return { kind: node.kind, items: node.items.map(item => planNode(item, context)) };
    case 'repeat': {
      const { item, min, max } = node;
      // A terminal is never empty, so "any number of" is "perhaps some of".
      if (isRegular && min === 0 && max !== 0 && max !== 1 && !isNullable(item, nullable)) {
        const some = planNode({ kind: 'repeat', item, min: 1, max }, context);
        if (some.kind === 'lexeme') return { kind: 'repeat', item: some, min: 0, max: 1 };
      }
      return { kind: 'repeat', item: planNode(item, context), min, max };
    }
  }
}

function planCharacters(text: string, { keyOf }: PlanContext): PlanNode {
  const items = [...text].map((character): PlanNode => {
    const code = character.codePointAt(0)!;
    const node: EbnfNode = { kind: 'characters', ranges: [[code, code]] };
    return { kind: 'lexeme', key: keyOf(node), node };
  });
  return items.length === 1 ? items[0]! : { kind: 'sequence', items };
}

/** Whether a node matches the empty text. `nullable`: the rules that do. */
export function isNullable(node: EbnfNode, nullable: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case 'characters':
      return false;
    case 'text':
      return node.text === '';
    case 'rule':
      return nullable.has(node.name);
    case 'sequence':
      return node.items.every(item => isNullable(item, nullable));
    case 'choice':
      return node.items.some(item => isNullable(item, nullable));
    case 'repeat':
      return node.min === 0 || isNullable(node.item, nullable);
  }
}

function namesIn(plan: PlanNode): readonly string[] {
  switch (plan.kind) {
    case 'lexeme':
      return [];
    case 'rule':
      return [plan.name];
    case 'repeat':
      return namesIn(plan.item);
    case 'sequence':
    case 'choice':
      return plan.items.flatMap(namesIn);
  }
}
