// Faults of a log call, each with its place in the body.

import { MAX_DETAILS, toValidationDetails, type ValidationDetail } from '@ortler/schemas';
import type { z } from 'zod';
import { safeParseBounded } from '../trpc/bounded-input.ts';
import { invalidInput } from '../trpc/report-faults.ts';

/** Path of a value in the body. */
export type Keys = readonly (string | number)[];

/** The faults found so far. */
export class LogFaults {
  readonly found: ValidationDetail[] = [];

  get isEmpty(): boolean {
    return this.found.length === 0;
  }

  /** Throws: `invalid_input` at the limit of faults, so that a hostile body is not read to its end. */
  report(faults: readonly ValidationDetail[]): void {
    this.found.push(...faults);
    if (this.found.length < MAX_DETAILS) return;
    const last = { loc: ['body'], msg: 'and possibly more', type: 'too_many_errors' };
    throw invalidInput([...this.found.slice(0, MAX_DETAILS), last]);
  }
}

/** Faults of `value` with their path in the body; `inside` are the keys of a wrapper around it. */
export function faultsOf(
  schema: z.ZodType,
  value: unknown,
  place: Keys,
  inside: Keys,
  known?: z.ZodError,
): ValidationDetail[] {
  const error = known ?? safeParseBounded(schema, value).error;
  if (error === undefined) return [];
  return toValidationDetails(error, 'body', value).map(({ loc: [body, ...keys], msg, type }) => ({
    loc: [body!, ...place.map(String), ...keys.slice(inside.length)],
    msg,
    type,
  }));
}

/** The fault of a value that breaks a rule beyond its schema. */
export function ruleFault(place: Keys, message: string): ValidationDetail {
  return { loc: ['body', ...place.map(String)], msg: `Value error, ${message}`, type: 'value_error' };
}
