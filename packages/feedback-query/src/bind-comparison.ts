// Which type two sides are compared in, and the comparison itself. A payload value takes the type of the other
// side; columns and computed values are never cast. Null equals only an absent value and has no order.
import type { BoundCondition, BoundValue, SqlComparison } from './bound-node.ts';
import { valueType } from './bound-node.ts';
import { parseDatetimeLiteral } from './datetime-literal.ts';
import { assertNever } from './errors.ts';
import { type ExprPath, step } from './expr-path.ts';
import { absenceOf, NEVER, numberOf, type Operand, readPayload, refusal, TRUE, textOf } from './operand.ts';

/** An operand and where it stands in the request. */
export interface Side {
  readonly operand: Operand;
  readonly path: ExprPath;
}

/** Type of one side as far as the query tells it. */
type SideType = 'null' | 'payload' | 'text' | 'number' | 'boolean' | 'datetime' | 'collection';

/**
 * Binds `left operator right`.
 *
 * Throws: `QueryError` `no_common_type` or `invalid_datetime` at the right side, or at the left where it is the literal.
 */
export function bindComparison(operator: SqlComparison, left: Side, right: Side): BoundCondition {
  const leftType = sideType(left.operand);
  const rightType = sideType(right.operand);
  if (leftType === 'null' || rightType === 'null') {
    if (operator !== 'eq') return NEVER;
    if (leftType === rightType) return TRUE;
    return absenceOf(leftType === 'null' ? right.operand : left.operand);
  }
  if (left.operand.kind === 'payload' && right.operand.kind === 'payload') {
    return {
      kind: 'compare-payload',
      operator,
      left: left.operand.segments,
      right: right.operand.segments,
    };
  }
  const type = commonType(left, leftType, right, rightType);
  return {
    kind: 'compare',
    operator,
    type: type === 'boolean' ? 'number' : type,
    left: readAs(type, left),
    right: readAs(type, right),
  };
}

/** Type in which a value and one non-null literal meet; elements of a list with the same answer share one `IN`. */
export function literalReading(value: Side, literal: Side): CommonType {
  return commonType(value, sideType(value.operand), literal, sideType(literal.operand));
}

export type CommonType = 'text' | 'number' | 'boolean' | 'datetime';

function sideType(operand: Operand): SideType {
  switch (operand.kind) {
    case 'literal':
      if (operand.value === null) return 'null';
      return typeof operand.value === 'string'
        ? 'text'
        : typeof operand.value === 'number'
          ? 'number'
          : 'boolean';
    case 'payload':
    case 'collection':
      return operand.kind;
    case 'condition':
      return 'boolean';
    case 'value': {
      const type = valueType(operand.value);
      return type === 'integer' ? 'number' : type;
    }
    default:
      return assertNever(operand);
  }
}

function commonType(left: Side, leftType: SideType, right: Side, rightType: SideType): CommonType {
  if (leftType === 'datetime' || rightType === 'datetime') {
    const other = leftType === 'datetime' ? right : left;
    const otherType = leftType === 'datetime' ? rightType : leftType;
    const isLiteral = other.operand.kind === 'literal' && (otherType === 'text' || otherType === 'number');
    if (otherType === 'datetime' || isLiteral) return 'datetime';
  } else if (leftType === 'payload') {
    if (rightType === 'text' || rightType === 'number' || rightType === 'boolean') return rightType;
    if (rightType === 'payload') return 'text';
  } else if (rightType === 'payload') {
    if (leftType === 'text' || leftType === 'number' || leftType === 'boolean') return leftType;
  } else if (leftType === 'text' && rightType === 'text') {
    return 'text';
  } else if (isNumeric(leftType) && isNumeric(rightType)) {
    return 'number';
  }
  throw refusal(
    'no_common_type',
    right.path,
    `There is no common type for ${leftType} and ${rightType}; use $convert on one side`,
  );
}

function isNumeric(type: SideType): boolean {
  return type === 'number' || type === 'boolean';
}

/** A side read as the common type. */
export function readAs(type: CommonType, side: Side): BoundValue {
  const { operand, path } = side;
  switch (type) {
    case 'text':
      return textOf(operand, path) as BoundValue;
    case 'number':
      return numberOf(operand, path) as BoundValue;
    case 'boolean':
      return operand.kind === 'payload'
        ? readPayload(operand.segments, 'flag')
        : (numberOf(operand, path) as BoundValue);
    case 'datetime':
      return readDatetime(side);
    default:
      return assertNever(type);
  }
}

function readDatetime({ operand, path }: Side): BoundValue {
  if (operand.kind === 'value') return operand.value;
  const value = operand.kind === 'literal' ? operand.value : null;
  const epochMs = typeof value === 'string' || typeof value === 'number' ? parseDatetimeLiteral(value) : null;
  if (epochMs === null) {
    throw refusal(
      'invalid_datetime',
      step(path, '$literal'),
      'A date is ISO 8601 text or Unix seconds, in the years 1 to 9999',
    );
  }
  return { kind: 'datetime-parameter', epochMs };
}
