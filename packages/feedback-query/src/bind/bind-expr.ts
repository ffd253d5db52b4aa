// The binder: resolves fields and types of an expression tree, and lowers every operator of the grammar to the few
// bound conditions of bound-node.ts. The last stage that can refuse an expression. Knows nothing of SQL or databases.

import { assertNever } from '../errors.ts';
import type { CompareNode, ExprNode, MembershipNode, TextMatchNode } from '../parse/expr-node.ts';
import { EXPR_ROOT, type ExprPath, step, toQueryPath } from '../parse/expr-path.ts';
import { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../parse/limits.ts';
import { bindComparison, commonType, isPresent, readAs, type Side } from './bind-comparison.ts';
import type { BoundCondition, BoundValue, SharedValue, SqlComparison } from './bound-node.ts';
import { convertTo, sizeOf } from './convert-operand.ts';
import { parseField } from './fields.ts';
import { condition, NEVER, negate, type Operand, presenceOf, textOf, truthOf, valued } from './operand.ts';

/**
 * Binds an expression as the condition of a query.
 *
 * Throws: `QueryError` `unknown_field`, `negative_index`, `no_common_type`, `invalid_datetime`,
 * `unsupported_operand` or `too_large`.
 */
export function bindExpr(expr: ExprNode, limits: QueryLimits = DEFAULT_QUERY_LIMITS): BoundCondition {
  return bindCondition(expr, EXPR_ROOT, limits);
}

function bindCondition(node: ExprNode, path: ExprPath, limits: QueryLimits): BoundCondition {
  return truthOf(bindOperand(node, path, limits));
}

function bindOperand(node: ExprNode, path: ExprPath, limits: QueryLimits): Operand {
  switch (node.kind) {
    case 'literal':
      return node.value === null ? { kind: 'null' } : { kind: 'literal', value: node.value };
    case 'field':
      return bindField(node.name, step(path, '$getField'), limits);
    case 'convert': {
      const at = step(path, '$convert', 'input');
      return convertTo(node.to, bindOperand(node.input, at, limits), at);
    }
    case 'size': {
      const at = step(path, '$size');
      return sizeOf(bindOperand(node.input, at, limits), at);
    }
    case 'logic': {
      const at = step(path, `$${node.operator}`);
      const operands = node.operands.map((operand, index) => bindCondition(operand, step(at, index), limits));
      return condition(anyOrAll(node.operator, operands));
    }
    case 'not':
      return condition(negate(bindCondition(node.operand, step(path, '$not', 0), limits)));
    case 'compare':
      return condition(bindCompare(node, step(path, `$${node.operator}`), limits));
    case 'membership':
      return condition(bindMembership(node, step(path, `$${node.operator}`), limits));
    case 'text-match':
      return condition(bindTextMatch(node, step(path, `$${node.operator}`), limits));
    case 'exists':
      return condition(presenceOf(bindOperand(node.input, step(path, '$exists'), limits)));
    default:
      return assertNever(node);
  }
}

/** A single operand needs no `and` or `or` around it. */
function anyOrAll(operator: 'and' | 'or', operands: readonly BoundCondition[]): BoundCondition {
  return operands.length === 1 ? operands[0]! : { kind: 'logic', operator, operands };
}

function bindField(name: string, path: ExprPath, limits: QueryLimits): Operand {
  const field = parseField(name, toQueryPath(path), limits);
  switch (field.kind) {
    case 'payload':
      return field;
    case 'map-key':
      return valued({ kind: 'map-value', column: field.column, key: field.key });
    case 'column': {
      const { column } = field;
      return column.type === 'text' || column.type === 'datetime'
        ? valued({ kind: 'column', column })
        : { kind: 'collection', column };
    }
    default:
      return assertNever(field);
  }
}

function bindCompare(node: CompareNode, path: ExprPath, limits: QueryLimits): BoundCondition {
  const left = { operand: bindOperand(node.left, step(path, 0), limits), path: step(path, 0) };
  const right = { operand: bindOperand(node.right, step(path, 1), limits), path: step(path, 1) };
  if (node.operator === 'ne') return negate(bindComparison('eq', left, right));
  return bindComparison(node.operator satisfies SqlComparison, left, right);
}

/** Equal to any element of the list. Literals that are compared in the same type become one `IN`. */
function bindMembership(node: MembershipNode, path: ExprPath, limits: QueryLimits): BoundCondition {
  const operand = bindOperand(node.value, step(path, 0), limits);
  const { operand: shared, wrap } = shareOperand(operand);
  const value: Side<Operand> = { operand: shared, path: step(path, 0) };
  const groups = new Map<string, { readonly value: BoundValue; readonly list: BoundValue[] }>();
  const alternatives: BoundCondition[] = [];
  node.list.forEach((element, index) => {
    const at = step(path, 1, index);
    const side: Side<Operand> = { operand: bindOperand(element, at, limits), path: at };
    if (side.operand.kind !== 'literal' || !isPresent(side) || !isPresent(value)) {
      alternatives.push(bindComparison('eq', value, side));
      return;
    }
    const type = commonType(value, side);
    let group = groups.get(type);
    if (group === undefined) {
      group = { value: readAs(type, value), list: [] };
      groups.set(type, group);
    }
    group.list.push(readAs(type, side));
  });
  for (const group of groups.values()) alternatives.push({ kind: 'one-of', ...group });
  const bound = alternatives.length === 0 ? NEVER : wrap(anyOrAll('or', alternatives));
  return node.operator === 'in' ? bound : negate(bound);
}

/** Binds a computed operand as a shared value, so that it is evaluated once for all elements. */
function shareOperand(operand: Operand): {
  readonly operand: Operand;
  readonly wrap: (body: BoundCondition) => BoundCondition;
} {
  const input = computedValue(operand);
  if (input === null) return { operand, wrap: body => body };
  const shared: SharedValue = { kind: 'shared', input };
  return {
    // A condition stays a condition: a payload path compared with it is read as a flag, not as a number.
    operand: operand.kind === 'condition' ? condition({ kind: 'truth', value: shared }) : valued(shared),
    wrap: body => ({ kind: 'share', shared, body }),
  };
}

function computedValue(operand: Operand): BoundValue | null {
  if (operand.kind === 'condition') {
    return { kind: 'from-condition', as: 'integer', input: operand.condition };
  }
  if (operand.kind !== 'value') return null;
  return operand.value.kind === 'column' || operand.value.kind === 'map-value' ? null : operand.value;
}

function bindTextMatch(node: TextMatchNode, path: ExprPath, limits: QueryLimits): BoundCondition {
  const inputPath = step(path, 'input');
  const needlePath = step(path, node.operator === 'contains' ? 'substr' : 'prefix');
  const operand = bindOperand(node.input, inputPath, limits);
  const wanted = bindOperand(node.needle, needlePath, limits);
  if (operand.kind === 'null' || wanted.kind === 'null') return NEVER;
  const needle = textOf(wanted, needlePath);
  const foldCase = node.caseInsensitive;
  if (operand.kind === 'collection' && operand.column.type === 'text-list' && node.operator === 'contains') {
    return { kind: 'has-element', column: operand.column, needle, foldCase };
  }
  const input = textOf(operand, inputPath);
  return { kind: 'text-match', operator: node.operator, input, needle, foldCase };
}
