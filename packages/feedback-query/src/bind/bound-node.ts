// The tree after binding: every field is a column or a payload path, every operand has one type, and nothing can
// be refused any more. Made by bind-expr.ts, read by compile-expr.ts.
import type { Column } from './columns.ts';
import type { PathSegment } from './fields.ts';

/**
 * Type of a value in SQL. `integer` is a whole double that has one text form in every database;
 * `number` is any double.
 */
export type ValueType = 'text' | 'number' | 'integer' | 'datetime';

export type SqlComparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

/**
 * How a payload value is read.
 *
 * - `text`: a text as it is, anything else as its JSON text; null when missing or null.
 * - `number`: a number, or a text that is a JSON number; else null.
 * - `flag`: true and `"true"` are 1, false and `"false"` are 0, whole numbers 0 to 255 are themselves; else null.
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
  /** One type made from another; null where the input has no such value. */
  | { readonly kind: 'cast'; readonly cast: Cast; readonly input: BoundValue }
  | { readonly kind: 'from-condition'; readonly as: 'integer' | 'text'; readonly input: BoundCondition }
  | SharedValue;

/** A value several parts of one condition use; stands only inside the body of its `share` condition. */
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
  /** A literal as a condition; its truth is a parameter, so that the SQL text does not depend on it. */
  | { readonly kind: 'constant'; readonly value: boolean }
  /** Written into the SQL text: follows from the shape of the query alone. */
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
  /** Two payload values: as numbers when both are JSON numbers, else as texts. */
  | {
      readonly kind: 'compare-payload';
      readonly operator: SqlComparison;
      readonly left: readonly PathSegment[];
      readonly right: readonly PathSegment[];
    }
  /** The value equals one of these parameters of one type. */
  | { readonly kind: 'one-of'; readonly value: BoundValue; readonly list: readonly BoundValue[] }
  /** Evaluates the shared value once for all its uses inside the body. */
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

/** The type a value has in SQL. */
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

/** Whether a value can be null; a comparison of values that cannot needs no guard. */
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
