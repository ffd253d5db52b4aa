// Size limits of objects and lists in requests, checked before any element: zod validates every element and does not stop
// at the first fault, so a large collection would block the thread for tenths of seconds.

import { z } from 'zod';
import type { IssueParams } from './lax-primitives.ts';
import type { Rejection } from './lax-values.ts';

/** Maximum number of entries of objects with free keys: metrics, metadata, ratings. */
export const MAX_NAMED_VALUES = 4_096;

/** Maximum number of items of a list whose actual limit is smaller, or depends on the model or the operator. */
export const MAX_LIST_LENGTH = 4_096;

/** zod's records drop the entry without a word. */
const LOST_KEY = '__proto__';
const LOST_KEY_FAULT: Rejection = {
  type: 'value_error',
  msg: `Value error, a key must not be ${LOST_KEY}`,
};

/** An object with string keys and at most `maxEntries` of them. */
export function boundedRecord<Schema extends z.ZodType>(
  value: Schema,
  maxEntries: number,
  key: z.ZodString = z.string(),
) {
  const fault = tooLong('Dictionary', maxEntries);
  return z.preprocess(
    (given: Record<string, z.input<Schema>>, context) => {
      if (!isObject(given)) return given;
      if (Object.keys(given).length > maxEntries) return refuse(fault, given, context);
      return Object.hasOwn(given, LOST_KEY) ? refuse(LOST_KEY_FAULT, given, context) : given;
    },
    z.record(key, value),
  );
}

/** A list of `minLength` to `maxLength` items. */
export function boundedList<Schema extends z.ZodType>(
  item: Schema,
  {
    minLength = 0,
    maxLength = MAX_LIST_LENGTH,
  }: { readonly minLength?: number; readonly maxLength?: number } = {},
) {
  const fault = tooLong('List', maxLength);
  const list = z.array(item).max(maxLength);
  return z.preprocess(
    (given: z.input<Schema>[], context) =>
      Array.isArray(given) && given.length > maxLength ? refuse(fault, given, context) : given,
    minLength === 0 ? list : list.min(minLength),
  );
}

/**
 * Any JSON object, passed through unchanged. zod's records copy every entry, which takes seconds for a million of them, and
 * drop keys such as `__proto__`.
 */
export function jsonObject() {
  const schema: z.ZodType<Record<string, unknown>> = z
    .any()
    .refine(isObject, {
      error: 'Input should be a valid dictionary',
      params: { type: 'dict_type' } satisfies IssueParams,
      // Lets a union try its other members.
      abort: true,
    })
    .meta({ type: 'object', additionalProperties: true });
  return schema;
}

function tooLong(kind: 'List' | 'Dictionary', limit: number): Rejection {
  return { type: 'too_long', msg: `${kind} should have at most ${limit} items after validation` };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(
  { type, msg }: Rejection,
  input: unknown,
  context: { readonly issues: z.core.$ZodRawIssue[] },
): never {
  context.issues.push({ code: 'custom', message: msg, params: { type } satisfies IssueParams, input });
  return z.NEVER;
}
