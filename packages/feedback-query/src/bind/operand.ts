// What an operand is before the operator around it decides how it is read, and the readings themselves.
// Shared by the binder's comparison rules and its operator rules; refuses what has no meaning.

import { assertNever, QueryError, type QueryErrorCode } from '../errors.ts';
import type { LiteralValue } from '../parse/expr-node.ts';
import { type ExprPath, toQueryPath } from '../parse/expr-path.ts';
import type { BoundCondition, BoundValue, PayloadReading } from './bound-node.ts';
import { valueType } from './bound-node.ts';
import type { Column } from './columns.ts';
import type { PathSegment } from './fields.ts';

export type Operand = PresentOperand | { readonly kind: 'null' };

/** Any operand but the literal null. */
export type PresentOperand =
  | { readonly kind: 'literal'; readonly value: NonNullable<LiteralValue> }
  /** A payload path: its type is only known row by row, so the other side of an operator decides. */
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

/** The operand as a condition: empty, zero, false, null and missing are false; anything else is true. */
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

/** Whether the operand has no value: null, a missing key, an explicit JSON null. */
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

/** Whether the operand is present; unlike its absence, a payload key with the value null counts as present. */
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
      throw refusal('unsupported_operand', path, `${operand.column.name} has no text; name one key of it`);
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
        'A computed double has no text that is the same in every database; convert it to int first',
      );
    default:
      return assertNever(type);
  }
}

/** The operand as a number; a text or payload value that is none becomes null. */
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
        `${operand.column.name} is not a number; name one key of it`,
      );
    case 'value': {
      const type = valueType(operand.value);
      if (type === 'datetime')
        throw refusal('unsupported_operand', path, 'A date is not converted to a number');
      return type === 'text' ? { kind: 'cast', cast: 'text-to-number', input: operand.value } : operand.value;
    }
    default:
      return assertNever(operand);
  }
}

/** An error at a place of the expression. */
export function refusal(code: QueryErrorCode, path: ExprPath, message: string): QueryError {
  return new QueryError(code, toQueryPath(path), message);
}
