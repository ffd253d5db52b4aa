// Client input as JSON that every database stores: numbers are doubles, text contains no NUL and no unpaired
// surrogates, nesting is limited.

import { ApiError } from '../trpc/errors.ts';

/** Source: the original service. Unit: UTF-16 units of the JSON text. */
export const MAX_PAYLOAD_LENGTH = 1_048_576;
/** Deeper than any REST body may be; limits tRPC callers. */
const MAX_DEPTH = 128;

/**
 * The JSON text of a payload.
 * Throws: `invalid_parameter` for a value that cannot be stored and for more than `MAX_PAYLOAD_LENGTH`.
 */
export function toPayloadDump(payload: Readonly<Record<string, unknown>>): string {
  const dump = JSON.stringify(toStorable(payload, 'payload', 0));
  if (dump.length > MAX_PAYLOAD_LENGTH) throw refusal('payload', 'Feedback payload too large');
  return dump;
}

/** Throws: `invalid_parameter` when the text contains NUL or an unpaired surrogate. */
export function checkText(text: string, place: string): void {
  if (text.includes('\0') || !text.isWellFormed())
    throw refusal(place, `${place} must not contain NUL or an unpaired surrogate`);
}

/** A copy in which integers of any size are doubles. Throws: `invalid_parameter`. */
export function toStorable<Value>(value: Value, place: string, depth = 0): Value {
  return storable(value, place, depth) as Value;
}

function storable(value: unknown, place: string, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      checkText(value, place);
      return value;
    case 'bigint':
      return Number(value);
    case 'number':
      if (!Number.isFinite(value)) throw refusal(place, `${place} must not contain NaN or infinities`);
      return value;
    case 'object':
      return value === null ? null : storableStructure(value, place, depth + 1);
    default:
      return value;
  }
}

function storableStructure(value: object, place: string, depth: number): unknown {
  if (depth > MAX_DEPTH) throw refusal(place, `${place} is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map(element => storable(element, place, depth));
  // Object.fromEntries defines own properties, so `__proto__` is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      checkText(key, place);
      return [key, storable(inner, place, depth)];
    }),
  );
}

function refusal(param: string, message: string): ApiError {
  return new ApiError('invalid_parameter', message, { param });
}
