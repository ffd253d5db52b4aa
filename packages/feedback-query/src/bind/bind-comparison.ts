// Binds comparisons: finds the common type of two operands and reads both as that type. A payload value takes the
// type of the other side; columns and computed values are never cast. Null equals only an absent value and is never
// less or greater.

import { assertNever } from '../errors.ts';
import { type ExprPath, step } from '../parse/expr-path.ts';
import type { BoundCondition, BoundValue, SqlComparison } from './bound-node.ts';
import { isFlag, valueType } from './bound-node.ts';
import { parseDatetimeLiteral } from './datetime-literal.ts';
import {
  absenceOf,
  NEVER,
  numberOf,
  type Operand,
  type PresentOperand,
  readPayload,
  refusal,
  TRUE,
  textOf,
} from './operand.ts';

/** An operand and its path in the request. */
export interface Side<O extends Operand = PresentOperand> {
  readonly operand: O;
  readonly path: ExprPath;
}

/** Static type of one side. */
type SideType = 'payload' | 'text' | 'number' | 'boolean' | 'datetime' | 'collection';

/**
 * Binds `left operator right`.
 *
 * Throws: `QueryError` `no_common_type` at the right side or `invalid_datetime` at the literal.
 */
export function bindComparison(
  operator: SqlComparison,
  left: Side<Operand>,
  right: Side<Operand>,
): BoundCondition {
  if (isPresent(left) && isPresent(right)) return bindPresent(operator, left, right);
  if (operator !== 'eq') return NEVER;
  if (isPresent(left)) return absenceOf(left.operand);
  return isPresent(right) ? absenceOf(right.operand) : TRUE;
}

/** Whether a side is not the literal null. */
export function isPresent(side: Side<Operand>): side is Side {
  return side.operand.kind !== 'null';
}

function bindPresent(operator: SqlComparison, left: Side, right: Side): BoundCondition {
  if (left.operand.kind === 'payload' && right.operand.kind === 'payload') {
    const [first, second] = [left.operand.segments, right.operand.segments];
    return { kind: 'compare-payload', operator, left: first, right: second };
  }
  const type = commonType(left, right);
  const sqlType = type === 'boolean' ? 'number' : type;
  return { kind: 'compare', operator, type: sqlType, left: readAs(type, left), right: readAs(type, right) };
}

/** A type for the comparison of two operands. */
export type CommonType = 'text' | 'number' | 'boolean' | 'datetime';

const LITERAL_TYPES = { string: 'text', number: 'number', boolean: 'boolean' } as const;

function sideType({ operand }: Side): SideType {
  switch (operand.kind) {
    case 'literal':
      return LITERAL_TYPES[typeof operand.value as keyof typeof LITERAL_TYPES];
    case 'payload':
    case 'collection':
      return operand.kind;
    case 'condition':
      return 'boolean';
    case 'value': {
      if (isFlag(operand.value)) return 'boolean';
      const type = valueType(operand.value);
      return type === 'integer' ? 'number' : type;
    }
    default:
      return assertNever(operand);
  }
}

/**
 * The common type of two sides. List elements with the same common type share one `IN`.
 *
 * Throws: `QueryError` `no_common_type`.
 */
export function commonType(left: Side, right: Side): CommonType {
  const [leftType, rightType] = [sideType(left), sideType(right)];
  if (leftType === rightType && (leftType === 'datetime' || isCastTarget(leftType))) return leftType;
  if (isNumeric(leftType) && isNumeric(rightType)) return 'number';
  if (leftType === 'payload' && isCastTarget(rightType)) return rightType;
  if (rightType === 'payload' && isCastTarget(leftType)) return leftType;
  if (leftType === 'datetime' && isDateLiteral(right)) return 'datetime';
  if (rightType === 'datetime' && isDateLiteral(left)) return 'datetime';
  throw refusal(
    'no_common_type',
    right.path,
    `There is no common type for ${leftType} and ${rightType}; use $convert on one side`,
  );
}

/** Whether a payload value can be read as the type. */
function isCastTarget(type: SideType): type is 'text' | 'number' | 'boolean' {
  return type === 'text' || isNumeric(type);
}

function isNumeric(type: SideType): type is 'number' | 'boolean' {
  return type === 'number' || type === 'boolean';
}

function isDateLiteral({ operand }: Side): boolean {
  return operand.kind === 'literal' && typeof operand.value !== 'boolean';
}

/** The bound value of a side, read as the common type. */
export function readAs(type: CommonType, side: Side): BoundValue {
  const { operand, path } = side;
  switch (type) {
    case 'text':
      return textOf(operand, path);
    case 'number':
      return numberOf(operand, path);
    case 'boolean':
      return operand.kind === 'payload' ? readPayload(operand.segments, 'flag') : numberOf(operand, path);
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
      'A date must be ISO 8601 text or Unix seconds, in the years 1 to 9999',
    );
  }
  return { kind: 'datetime-parameter', epochMs };
}
