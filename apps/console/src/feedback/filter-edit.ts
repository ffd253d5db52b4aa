// Changes of a filter in the builder: another operator, another kind of operand. What the old one had is kept where the new
// one has a place for it. Pure.

import {
  COMPARISONS,
  type Comparison,
  type FilterNode,
  field,
  group,
  type Kind,
  type Literal,
  literal,
  newCondition,
} from './filter-node.ts';

/** Type of a field, as far as it is known. */
export type FieldType = 'numeric' | 'boolean' | 'categorical' | 'unknown';

export type ConditionName =
  | '$and'
  | '$or'
  | '$not'
  | Comparison
  | '$in'
  | '$nin'
  | '$contains'
  | '$startsWith'
  | '$exists';

/** Operators of conditions, in the words that the builder shows. */
export const CONDITION_NAMES: Readonly<Record<ConditionName, string>> = {
  $eq: 'is',
  $ne: 'is not',
  $gt: '>',
  $gte: '≥',
  $lt: '<',
  $lte: '≤',
  $contains: 'contains',
  $startsWith: 'starts with',
  $in: 'is one of',
  $nin: 'is none of',
  $exists: 'is present',
  $not: 'not',
  $and: 'all of',
  $or: 'any of',
};

/** Operators that compare something, those that suit the type first. */
export function operatorsFor(type: FieldType): readonly ConditionName[] {
  const suiting: Readonly<Record<FieldType, readonly ConditionName[]>> = {
    numeric: ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'],
    boolean: ['$eq', '$ne'],
    categorical: ['$eq', '$ne', '$contains', '$startsWith', '$in', '$nin'],
    unknown: [],
  };
  const all = [...COMPARISONS, '$contains', '$startsWith', '$in', '$nin', '$exists'] as const;
  return [...new Set([...suiting[type], ...all])];
}

/** The operator of a condition; null for a value. */
export function operatorOf(node: FilterNode): ConditionName | null {
  if (node.kind === 'not') return '$not';
  if (node.kind === 'exists') return '$exists';
  return 'operator' in node ? node.operator : null;
}

/** What a condition is about: its first operand. */
export function subjectOf(node: FilterNode): FilterNode {
  switch (node.kind) {
    case 'compare':
      return node.left;
    case 'member':
      return node.value;
    case 'text':
    case 'exists':
    case 'size':
    case 'convert':
      return node.input;
    case 'not':
      return node.child;
    case 'group':
      return node.children[0] ?? field('');
    default:
      return node;
  }
}

function objectOf(node: FilterNode): FilterNode {
  if (node.kind === 'compare') return node.right;
  if (node.kind === 'text') return node.needle;
  if (node.kind === 'member') return node.list[0] ?? literal('');
  return literal('');
}

/** The condition with another operator. */
export function withOperator(node: FilterNode, operator: ConditionName): FilterNode {
  const subject = subjectOf(node);
  const object = objectOf(node);
  switch (operator) {
    case '$and':
    case '$or':
      return node.kind === 'group' ? { ...node, operator } : group(operator, node);
    case '$not':
      return { kind: 'not', child: node };
    case '$in':
    case '$nin':
      return node.kind === 'member'
        ? { ...node, operator }
        : { kind: 'member', operator, value: subject, list: [object] };
    case '$contains':
    case '$startsWith':
      return node.kind === 'text'
        ? { ...node, operator }
        : { kind: 'text', operator, input: subject, needle: object, ignoresCase: false };
    case '$exists':
      return { kind: 'exists', input: subject };
    default:
      return { kind: 'compare', operator, left: subject, right: object };
  }
}

/** An operand of another kind in the place of this one. */
export function withKind(node: FilterNode, kind: Kind): FilterNode {
  if (node.kind === kind) return node;
  switch (kind) {
    case 'field':
      return field('');
    case 'literal':
      return literal('');
    case 'size':
      return { kind, input: node };
    case 'convert':
      return { kind, input: node, to: 'double' };
    case 'group':
      return group('$and', node);
    case 'not':
      return { kind, child: node };
    case 'exists':
      return { kind, input: node };
    default:
      return newCondition(node.kind === 'field' ? node.name : '');
  }
}

/** A value in the type that a field suggests: `5` for a number, `true` for a boolean. */
export function literalOfType(text: string, type: FieldType): Literal {
  if (type === 'numeric' && text.trim() !== '' && Number.isFinite(Number(text))) return literal(Number(text));
  if (type === 'boolean' && (text === 'true' || text === 'false')) return literal(text === 'true');
  return literal(text);
}

/** As `literalOfType`, of a text that was typed: when the type of the field changes, that of the value does. */
export function typedLiteral(text: string, type: FieldType): Literal {
  return { ...literalOfType(text, type), typed: text };
}
