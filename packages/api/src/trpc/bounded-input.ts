// Keeps a refusal cheap. A schema reports every fault, and a body of a few megabytes can hold a million of them: to
// collect and print those would stop the whole process for seconds. Large inputs are therefore searched for one fault.

import { nextTurn } from '@ortler/worker';
import { TRPCError } from '@trpc/server';
import type { z } from 'zod';
import { middleware } from './trpc.ts';

/** Inputs with at most this many values (objects, lists and what they hold) get all their faults reported. */
export const MAX_FULLY_REPORTED_VALUES = 5_000;

// zod's own `validate` stops like this; as it gives no fault, its setting is used directly. The test would notice if it
// were gone.
const FIRST_FAULT: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

/** As `schema.safeParse`, but a large value that the schema refuses is told by its first fault alone. */
export function safeParseBounded<Value>(
  schema: z.ZodType<Value>,
  input: unknown,
): z.ZodSafeParseResult<Value> {
  const first = schema.safeParse(input, FIRST_FAULT);
  if (first.success || holdsMoreValues(input, MAX_FULLY_REPORTED_VALUES)) return first;
  return schema.safeParse(input);
}

/**
 * A step before `.input(schema)`: a large input that the schema refuses fails at once, with its first fault. Each look at a large
 * input is a turn of its own.
 */
export function refuseLargeFaultyInput(schema: z.ZodType) {
  return middleware(async ({ getRawInput, next }) => {
    const input = await getRawInput();
    if (holdsMoreValues(input, MAX_FULLY_REPORTED_VALUES)) {
      await nextTurn();
      const { error } = schema.safeParse(input, FIRST_FAULT);
      if (error !== undefined) throw new TRPCError({ code: 'BAD_REQUEST', cause: error });
      await nextTurn();
    }
    return next();
  });
}

/** Counts the value itself, and everything inside it, until there are more than `limit`. */
export function holdsMoreValues(value: unknown, limit: number): boolean {
  const open: unknown[] = [value];
  for (let count = 1; open.length > 0; count++) {
    if (count + open.length - 1 > limit) return true;
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    // Names first: V8 takes three times as long for the values of a large object.
    const childCount = Array.isArray(next) ? next.length : Object.keys(next).length;
    if (childCount > limit) return true;
    for (const child of Object.values(next)) open.push(child);
  }
  return false;
}
