// Values of `metrics` and `metadata`: unions of scalar types. Like pydantic, a wrong value is reported once per member,
// with the name of the member at the end of its location.

import { z } from 'zod';
import { accept } from './lax-primitives.ts';
import { type Rejection, readAnyInteger, readBoolean, readNumber } from './lax-values.ts';

/** A number or boolean; text that parses as one is converted. */
export function metricValue() {
  return z.preprocess(
    (value: number | boolean, context): number | boolean => {
      if (typeof value === 'boolean') return value;
      const asNumber = readNumber(value);
      if (typeof asNumber === 'number') return asNumber;
      const asBoolean = readBoolean(value);
      if (typeof asBoolean === 'boolean') return asBoolean;
      reportUnread(asNumber, value, context.issues, 'float');
      reportUnread(readAnyInteger(value), value, context.issues, 'int');
      reportUnread(asBoolean, value, context.issues, 'bool');
      return z.NEVER;
    },
    z.union([z.number(), z.boolean()]),
  );
}

/** Text, a number, a boolean or null, kept exactly as given. Big integers stay bigint. */
export function metadataValue() {
  // JSON Schema has no bigint; documents show an integer of any size as a number.
  const documented: z.ZodType<MetadataValue> = z
    .any()
    .meta({ type: ['string', 'number', 'boolean', 'null'] });
  return z.preprocess((value: MetadataValue, context): MetadataValue => {
    if (value === null) return value;
    const kind = typeof value;
    if (kind === 'string' || kind === 'boolean' || kind === 'number' || kind === 'bigint') return value;
    reportUnread(readNumber(value), value, context.issues, 'float');
    reportUnread(readAnyInteger(value), value, context.issues, 'int');
    reportUnread(STRING_TYPE, value, context.issues, 'str');
    reportUnread(readBoolean(value), value, context.issues, 'bool');
    return z.NEVER;
  }, documented);
}

/** One value of `metadata`. */
export type MetadataValue = string | number | bigint | boolean | null;

const STRING_TYPE: Rejection = { type: 'string_type', msg: 'Input should be a valid string' };

function reportUnread(
  result: number | bigint | boolean | Rejection,
  input: unknown,
  issues: z.core.$ZodRawIssue[],
  member: string,
): void {
  accept(result, input, issues, member);
}
