// Operands: bound, but not yet read as a type, and the functions that read them as condition, text or number.
// Shared by bind-expr.ts and bind-comparison.ts.

import { assertNever, QueryError, type QueryErrorCode } from '../errors.ts';
import type { LiteralValue } from '../parse/expr-node.ts';
import { type ExprPath, toQueryPath } from '../parse/expr-path.ts';
import type { BoundCondition, BoundValue, PayloadReading } from './bound-node.ts';
import { valueType } from './bound-node.ts';
import type { Column } from './columns.ts';
import type { PathSegment } from './fields.ts';

export type Operand = PresentOperand | { readonly kind: 'null' };

/** An operand other than the literal null. */
export type PresentOperand =
  | { readonly kind: 'literal'; readonly value: NonNullable<LiteralValue> }
  /** A payload path. Its type differs by row, so the operator and the other operand decide how it is read. */
  | { readonly kind: 'payload'; readonly segments: readonly PathSegment[] }
  /** A whole list or map column. */
  | { readonly kind: 'collection'; readonly column: Column }
  | { readonly kind: 'value'; readonly value: BoundValue }
  | { readonly kind: 'condition'; readonly condition: BoundCondition };

export const TRUE: BoundCondition = Object.freeze({ kind: 'constant', value: true });
export const FALSE: BoundCondition = Object.freeze({ kind: 'constant', value: false });
export const NEVER: BoundCondition = Object.freeze({ kind: 'never' });

export function textParameter(value: string): BoundValue {
  return { kind: 'text-parameter', value };
}
export function numberParameter(value: number): BoundValue {
  return { kind: 'number-parameter', value };
}
export function readPayload(segments: readonly PathSegment[], reading: PayloadReading): BoundValue {
  return { kind: 'payload', segments, reading };
}
export function negate(operand: BoundCondition): BoundCondition {
  return { kind: 'not', operand };
}

/** A bound condition as an operand. */
export function condition(bound: BoundCondition): Operand {
  return { kind: 'condition', condition: bound };
}

/** A bound value as an operand. */
export function valued(bound: BoundValue): Operand {
  return { kind: 'value', value: bound };
}

/** The operand as a condition: empty, zero, false, null and missing are false, all other values true. */
export function truthOf(operand: Operand): BoundCondition {
  switch (operand.kind) {
    case 'null':
      return FALSE;
    case 'literal':
      return operand.value === '' || operand.value === 0 || operand.value === false ? FALSE : TRUE;
    case 'payload':
      return { kind: 'payload-truth', segments: operand.segments };
    case 'collection':
      return { kind: 'truth', value: { kind: 'column-size', column: operand.column } };
    case 'value':
      return valueType(operand.value) === 'datetime' ? TRUE : { kind: 'truth', value: operand.value };
    case 'condition':
      return operand.condition;
    default:
      return assertNever(operand);
  }
}

/** Whether the operand is absent: null, a missing key or an explicit JSON null. */
export function absenceOf(operand: Operand): BoundCondition {
  switch (operand.kind) {
    case 'null':
      return TRUE;
    case 'payload':
      return { kind: 'is-null', value: readPayload(operand.segments, 'text') };
    case 'value':
      return { kind: 'is-null', value: operand.value };
    case 'literal':
    case 'collection':
    case 'condition':
      return NEVER;
    default:
      return assertNever(operand);
  }
}

/** Whether the operand is present. Not the opposite of absence: a payload key with the value null is both. */
export function presenceOf(operand: Operand): BoundCondition {
  if (operand.kind === 'payload') return { kind: 'payload-exists', segments: operand.segments };
  return negate(absenceOf(operand));
}

/** The operand as text. */
export function textOf(operand: PresentOperand, path: ExprPath): BoundValue {
  switch (operand.kind) {
    case 'literal':
      return textParameter(typeof operand.value === 'string' ? operand.value : JSON.stringify(operand.value));
    case 'payload':
      return readPayload(operand.segments, 'text');
    case 'condition':
      return { kind: 'from-condition', as: 'text', input: operand.condition };
    case 'collection':
      throw refusal(
        'unsupported_operand',
        path,
        `${operand.column.name} cannot be read as text; use one of its keys`,
      );
    case 'value':
      return textOfValue(operand.value, path);
    default:
      return assertNever(operand);
  }
}

function textOfValue(value: BoundValue, path: ExprPath): BoundValue {
  const type = valueType(value);
  switch (type) {
    case 'text':
      return value;
    case 'integer':
      return { kind: 'cast', cast: 'integer-to-text', input: value };
    case 'datetime':
      return { kind: 'cast', cast: 'datetime-to-text', input: value };
    case 'number':
      throw refusal(
        'unsupported_operand',
        path,
        'The text of a computed double differs between databases; convert it to int before string',
      );
    default:
      return assertNever(type);
  }
}

/** The operand as a number; null for a text or payload value that is not numeric. */
export function numberOf(operand: PresentOperand, path: ExprPath): BoundValue {
  switch (operand.kind) {
    case 'literal':
      return typeof operand.value === 'string'
        ? { kind: 'cast', cast: 'text-to-number', input: textParameter(operand.value) }
        : numberParameter(Number(operand.value));
    case 'payload':
      return readPayload(operand.segments, 'number');
    case 'condition':
      return { kind: 'from-condition', as: 'integer', input: operand.condition };
    case 'collection':
      throw refusal(
        'unsupported_operand',
        path,
        `${operand.column.name} cannot be read as a number; use one of its keys`,
      );
    case 'value': {
      const type = valueType(operand.value);
      if (type === 'datetime')
        throw refusal('unsupported_operand', path, 'A date cannot be read as a number');
      return type === 'text' ? { kind: 'cast', cast: 'text-to-number', input: operand.value } : operand.value;
    }
    default:
      return assertNever(operand);
  }
}

/** An error at a path of the expression. */
export function refusal(code: QueryErrorCode, path: ExprPath, message: string): QueryError {
  return new QueryError(code, toQueryPath(path), message);
}
