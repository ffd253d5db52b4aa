// The expression tree: one frozen node per operator of the grammar, with unresolved field names. The parser creates
// the nodes; the binder reads them.

export type LiteralValue = string | number | boolean | null;
export type CompareOperator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte';
export const CONVERT_TARGETS = ['double', 'string', 'int', 'bool', 'exists'] as const;
export type ConvertTarget = (typeof CONVERT_TARGETS)[number];

export interface LiteralNode {
  readonly kind: 'literal';
  readonly value: LiteralValue;
}
export interface FieldNode {
  readonly kind: 'field';
  /** The name as in the request: `payload.a\.b`. */
  readonly name: string;
}
export interface ConvertNode {
  readonly kind: 'convert';
  readonly input: ExprNode;
  readonly to: ConvertTarget;
}
export interface SizeNode {
  readonly kind: 'size';
  readonly input: ExprNode;
}
export interface LogicNode {
  readonly kind: 'logic';
  readonly operator: 'and' | 'or';
  readonly operands: readonly ExprNode[];
}
export interface NotNode {
  readonly kind: 'not';
  readonly operand: ExprNode;
}
export interface CompareNode {
  readonly kind: 'compare';
  readonly operator: CompareOperator;
  readonly left: ExprNode;
  readonly right: ExprNode;
}
export interface MembershipNode {
  readonly kind: 'membership';
  readonly operator: 'in' | 'nin';
  readonly value: ExprNode;
  readonly list: readonly ExprNode[];
}
export interface TextMatchNode {
  readonly kind: 'text-match';
  readonly operator: 'contains' | 'startsWith';
  readonly input: ExprNode;
  readonly needle: ExprNode;
  readonly caseInsensitive: boolean;
}
export interface ExistsNode {
  readonly kind: 'exists';
  readonly input: ExprNode;
}

/** A parsed operand. Consumers switch on `kind` and end with `assertNever`. */
export type ExprNode =
  | LiteralNode
  | FieldNode
  | ConvertNode
  | SizeNode
  | LogicNode
  | NotNode
  | CompareNode
  | MembershipNode
  | TextMatchNode
  | ExistsNode;

export function literalNode(value: LiteralValue): LiteralNode {
  return Object.freeze({ kind: 'literal', value });
}
export function fieldNode(name: string): FieldNode {
  return Object.freeze({ kind: 'field', name });
}
export function convertNode(input: ExprNode, to: ConvertTarget): ConvertNode {
  return Object.freeze({ kind: 'convert', input, to });
}
export function sizeNode(input: ExprNode): SizeNode {
  return Object.freeze({ kind: 'size', input });
}
export function logicNode(operator: 'and' | 'or', operands: readonly ExprNode[]): LogicNode {
  return Object.freeze({ kind: 'logic', operator, operands: Object.freeze(operands) });
}
export function notNode(operand: ExprNode): NotNode {
  return Object.freeze({ kind: 'not', operand });
}
export function compareNode(operator: CompareOperator, left: ExprNode, right: ExprNode): CompareNode {
  return Object.freeze({ kind: 'compare', operator, left, right });
}
export function membershipNode(
  operator: 'in' | 'nin',
  value: ExprNode,
  list: readonly ExprNode[],
): MembershipNode {
  return Object.freeze({ kind: 'membership', operator, value, list: Object.freeze(list) });
}
export function textMatchNode(
  operator: 'contains' | 'startsWith',
  input: ExprNode,
  needle: ExprNode,
  caseInsensitive: boolean,
): TextMatchNode {
  return Object.freeze({ kind: 'text-match', operator, input, needle, caseInsensitive });
}
export function existsNode(input: ExprNode): ExistsNode {
  return Object.freeze({ kind: 'exists', input });
}
