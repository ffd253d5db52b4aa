// Coercing primitives of request bodies as zod schemas. Each is a pipe from a reader in `lax-values.ts` to a plain schema:
// documents show the plain schema, and libraries that enable zod's own coercion cannot reach into a pipe.

import { z } from 'zod';
import { readDateTime } from './date-time.ts';
import {
  type Rejection,
  readAnyInteger,
  readBoolean,
  readInteger,
  readIntegerButNoText,
  readNumber,
} from './lax-values.ts';

/** The published bounds of 64-bit integers: the nearest doubles. Inclusive. */
export const WIRE_INT64_LIMIT = 9_223_372_036_854_776_000n;

/** Inclusive bounds, which are validated and documented. */
export interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Parameters of a custom issue, read by `toValidationDetails`: pydantic's error type and its union member, if any. */
export interface IssueParams {
  readonly type: string;
  readonly member?: string;
}

/** A number; numeric text and booleans are converted. */
export function laxNumber(bounds: Bounds = {}) {
  return lax<number, z.ZodNumber>(readNumber, withBounds(z.number(), bounds));
}

/** An integer within ±(2^53 - 1); whole-number text, whole floats and booleans are converted. */
export function laxInteger(bounds: Bounds = {}) {
  return lax<number, z.ZodNumber>(readInteger, withBounds(z.int(), bounds));
}

/** Like `laxInteger`, but text is refused. */
export function laxIntegerButNoText(bounds: Bounds = {}) {
  return lax<number, z.ZodNumber>(readIntegerButNoText, withBounds(z.int(), bounds));
}

/**
 * An integer that keeps every digit: a number within ±(2^53 - 1), a bigint outside.
 * Both bounds are inclusive and compared exactly.
 */
export function laxBigInteger(minimum: bigint, maximum: bigint) {
  // zod has no schema for "number or bigint" that JSON Schema can express, so the reader checks the bounds.
  const documented: z.ZodType<number | bigint> = z
    .any()
    .meta({ type: 'integer', minimum: Number(minimum), maximum: Number(maximum) });
  return lax<number | bigint, typeof documented>(value => {
    const integer = readAnyInteger(value);
    if (typeof integer === 'object') return integer;
    if (integer < minimum) {
      return { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${minimum}` };
    }
    if (integer > maximum) {
      return { type: 'less_than_equal', msg: `Input should be less than or equal to ${maximum}` };
    }
    return integer;
  }, documented);
}

/** A boolean; 0, 1 and words such as yes and off are converted. */
export function laxBoolean() {
  return lax<boolean, z.ZodBoolean>(readBoolean, z.boolean());
}

/** A timestamp: ISO 8601 text, a date or Unix time. The parsed value is UTC ISO text with milliseconds. */
export function laxDateTime() {
  return z.preprocess(
    (value: string | number, context) => accept(readDateTime(value), value, context.issues),
    z.string().meta({ format: 'date-time' }),
  );
}

/**
 * A nullable field with a default: `null` means the same as an absent field.
 * Defaults of coercing fields are set with `prefault`, because documents of inputs do not show zod's `default` on a schema
 * that converts its value.
 */
export function nullAsDefault<Value extends number | boolean>(
  schema: z.ZodType<Value, Value>,
  fallback: Value,
) {
  return schema
    .nullable()
    .transform((value): Value => value ?? fallback)
    .prefault(fallback);
}

/** Reports a violated rule between fields. `field` is the place of the fault for clients. */
export function reportRule(
  context: z.core.ParsePayload,
  field: string | readonly (string | number)[],
  msg: string,
): void {
  context.issues.push({
    code: 'custom',
    path: typeof field === 'string' ? [field] : [...field],
    message: msg,
    params: { type: 'value_error' } satisfies IssueParams,
    input: context.value,
    continue: true,
  });
}

/** Turns a reader's result into a parsed value or a zod issue. `member` names the branch of a union. */
export function accept<Value extends number | bigint | boolean | string>(
  result: Value | Rejection,
  input: unknown,
  issues: z.core.$ZodRawIssue[],
  member?: string,
): Value {
  if (typeof result !== 'object') return result;
  const params: IssueParams = member === undefined ? { type: result.type } : { type: result.type, member };
  issues.push({ code: 'custom', message: result.msg, params: { ...params }, input });
  return z.NEVER;
}

function lax<Value extends number | bigint | boolean, Documented extends z.ZodType<Value>>(
  read: (value: unknown) => Value | Rejection,
  documented: Documented,
) {
  return z.preprocess((value: Value, context) => accept(read(value), value, context.issues), documented);
}

function withBounds(schema: z.ZodNumber, { minimum, maximum }: Bounds): z.ZodNumber {
  const bounded = minimum === undefined ? schema : schema.min(minimum);
  return maximum === undefined ? bounded : bounded.max(maximum);
}
