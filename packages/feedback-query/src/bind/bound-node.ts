// The bound tree: every field is a column or a payload path, every operand has one type, and compilation cannot fail.
// Created by bind-expr.ts, compiled by compile/compile-expr.ts.
import type { Column } from './columns.ts';
import type { PathSegment } from './fields.ts';

/**
 * SQL type of a value. `integer` is a whole number with the same text in every database; `number` is any double.
 */
export type ValueType = 'text' | 'number' | 'integer' | 'datetime';

export type SqlComparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

/**
 * The type as which a payload value is read.
 *
 * - `text`: a string unchanged, any other value as its JSON text; null when missing or null.
 * - `number`: a number, or a string that is a JSON number; else null.
 * - `flag`: 1 for true and `"true"`, 0 for false and `"false"`, whole numbers from 0 to 255 unchanged; else null.
 */
export type PayloadReading = 'text' | 'number' | 'flag';

export type BoundValue =
  /** A bound parameter. Datetimes are milliseconds since 1970. */
  | { readonly kind: 'text-parameter'; readonly value: string }
  | { readonly kind: 'number-parameter'; readonly value: number }
  | { readonly kind: 'datetime-parameter'; readonly epochMs: number }
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'map-value'; readonly column: Column; readonly key: string }
  | { readonly kind: 'payload'; readonly segments: readonly PathSegment[]; readonly reading: PayloadReading }
  | { readonly kind: 'payload-size'; readonly segments: readonly PathSegment[] }
  | { readonly kind: 'column-size'; readonly column: Column }
  | { readonly kind: 'text-length'; readonly input: BoundValue }
  /** A type conversion; null where the conversion fails. */
  | { readonly kind: 'cast'; readonly cast: Cast; readonly input: BoundValue }
  | { readonly kind: 'from-condition'; readonly as: 'integer' | 'text'; readonly input: BoundCondition }
  | SharedValue;

/** A value used several times in one condition; occurs only in the body of its `share` condition. */
export interface SharedValue {
  readonly kind: 'shared';
  readonly input: BoundValue;
}

export type Cast =
  | 'text-to-number'
  | 'text-to-flag'
  | 'number-to-flag'
  | 'number-to-integer'
  | 'integer-to-text'
  | 'datetime-to-text';

export type BoundCondition =
  /** A literal as a condition. A parameter in the SQL, so that the SQL text does not depend on the value. */
  | { readonly kind: 'constant'; readonly value: boolean }
  /** Always false, in the SQL text, because it follows from the shape of the query alone. */
  | { readonly kind: 'never' }
  | { readonly kind: 'logic'; readonly operator: 'and' | 'or'; readonly operands: readonly BoundCondition[] }
  | { readonly kind: 'not'; readonly operand: BoundCondition }
  | {
      readonly kind: 'compare';
      readonly operator: SqlComparison;
      readonly type: 'text' | 'number' | 'datetime';
      readonly left: BoundValue;
      readonly right: BoundValue;
    }
  /** Two payload values, compared as numbers when both are JSON numbers, else as texts. */
  | {
      readonly kind: 'compare-payload';
      readonly operator: SqlComparison;
      readonly left: readonly PathSegment[];
      readonly right: readonly PathSegment[];
    }
  /** The value equals one of these parameters of one type. */
  | { readonly kind: 'one-of'; readonly value: BoundValue; readonly list: readonly BoundValue[] }
  /** Evaluates the shared value once for all its uses in the body. */
  | { readonly kind: 'share'; readonly shared: SharedValue; readonly body: BoundCondition }
  | { readonly kind: 'is-null'; readonly value: BoundValue }
  | { readonly kind: 'payload-exists'; readonly segments: readonly PathSegment[] }
  | { readonly kind: 'payload-truth'; readonly segments: readonly PathSegment[] }
  | { readonly kind: 'truth'; readonly value: BoundValue }
  | {
      readonly kind: 'text-match';
      readonly operator: 'contains' | 'startsWith';
      readonly input: BoundValue;
      readonly needle: BoundValue;
      readonly foldCase: boolean;
    }
  | {
      readonly kind: 'has-element';
      readonly column: Column;
      readonly needle: BoundValue;
      readonly foldCase: boolean;
    };

/** The SQL type of a value. */
export function valueType(value: BoundValue): ValueType {
  switch (value.kind) {
    case 'text-parameter':
      return 'text';
    case 'number-parameter':
      return 'number';
    case 'datetime-parameter':
      return 'datetime';
    case 'column':
      return value.column.type === 'datetime' ? 'datetime' : 'text';
    case 'map-value':
      return value.column.type === 'number-map' ? 'number' : 'text';
    case 'payload':
      return value.reading === 'flag' ? 'integer' : value.reading;
    case 'payload-size':
    case 'column-size':
    case 'text-length':
      return 'integer';
    case 'cast':
      return CAST_RESULTS[value.cast];
    case 'from-condition':
      return value.as;
    case 'shared':
      return valueType(value.input);
  }
}

const CAST_RESULTS = {
  'text-to-number': 'number',
  'text-to-flag': 'integer',
  'number-to-flag': 'integer',
  'number-to-integer': 'integer',
  'integer-to-text': 'text',
  'datetime-to-text': 'text',
} as const satisfies Record<Cast, ValueType>;

/** Whether a value is a flag: what it is compared with is read as one, too. */
export function isFlag(value: BoundValue): boolean {
  if (value.kind === 'shared') return isFlag(value.input);
  if (value.kind === 'payload') return value.reading === 'flag';
  return value.kind === 'cast' && (value.cast === 'text-to-flag' || value.cast === 'number-to-flag');
}

/** Whether a value can be null. A comparison of values that cannot be null needs no `coalesce`. */
export function isNullable(value: BoundValue): boolean {
  switch (value.kind) {
    case 'text-parameter':
    case 'number-parameter':
    case 'datetime-parameter':
    case 'from-condition':
    case 'column-size':
      return false;
    case 'column':
      return value.column.nullable;
    case 'map-value':
    case 'payload':
    case 'payload-size':
      return true;
    case 'text-length':
    case 'shared':
      return isNullable(value.input);
    case 'cast':
      return value.cast === 'integer-to-text' || value.cast === 'datetime-to-text'
        ? isNullable(value.input)
        : true;
  }
}
