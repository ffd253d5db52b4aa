// Checks a parsed body against the schema of its procedure, where tRPC has not done so.

import { toValidationDetails } from '@ortler/schemas';
import type { z } from 'zod';
import { safeParseBounded } from '../trpc/bounded-input.ts';
import { invalidInput } from '../trpc/report-faults.ts';

/** Throws: `invalid_input`, with the places of all faults, or of the first one in a large body. */
export function checkBody<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const { data, error } = safeParseBounded(schema, value);
  if (error !== undefined) throw invalidInput(toValidationDetails(error, 'body', value));
  return data!;
}
