// How 64-bit integers (seeds) cross tRPC, whose JSON would round them. A bigint in an input travels as
// `{"$int64": "<digits>"}`, with as many digits as REST reads, and back in an output (logged trajectories hold what clients sent); everything else travels
// as plain JSON, so callers without this transformer still work. It is part of every typed client, in browsers too, so it
// imports nothing of the api.

import { TRPCError } from '@trpc/server';

const TAG = '$int64';

/** Deepest nesting of an input, as for REST bodies. */
export const MAX_DEPTH = 128;
/** Levels of an output around what it repeats of an input: those of the answer, and of a streamed reply of tRPC. */
const ENVELOPE_DEPTH = 16;

/** The cause of the error of an input that is nested deeper, for endpoints that list faults. */
export class InputTooDeepError extends Error {
  override readonly name = 'InputTooDeepError';
  /** As REST says it of a body. */
  readonly limit = `more than ${MAX_DEPTH} nested levels`;
}

/** Data transformer for `initTRPC` and for the links of every typed client. */
export const int64Transformer = {
  input: {
    serialize: (value: unknown): unknown => tagBigints(value),
    deserialize: (value: unknown): unknown => untagBigints(value),
  },
  output: {
    serialize: (value: unknown): unknown => tagBigints(value, -ENVELOPE_DEPTH),
    deserialize: (value: unknown): unknown => untagBigints(value, -ENVELOPE_DEPTH),
  },
};

/** The form in which an integer travels. */
function tagDigits(digits: string): Readonly<Record<typeof TAG, string>> {
  return { [TAG]: digits };
}

function tagBigints(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint') return tagDigits(String(value));
  return mapChildren(value, depth, tagBigints);
}

function untagBigints(value: unknown, depth = 0): unknown {
  if (isTagged(value)) return BigInt(value[TAG]);
  return mapChildren(value, depth, untagBigints);
}

// Returns the same object when nothing inside changed, so an ordinary request is walked but not copied.
function mapChildren(
  value: unknown,
  depth: number,
  map: (child: unknown, depth: number) => unknown,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // Without a bound, a body of nothing but brackets would exhaust the stack here and in every reader behind.
  if (depth === MAX_DEPTH) throw tooDeep();
  const mapChild = (child: unknown) => map(child, depth + 1);
  if (Array.isArray(value)) {
    const mapped = value.map(mapChild);
    return mapped.some((child, index) => child !== value[index]) ? mapped : value;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const mapped = entries.map(([key, child]) => [key, mapChild(child)] as const);
  const changed = mapped.some(([, child], index) => child !== entries[index]?.[1]);
  return changed ? Object.fromEntries(mapped) : value;
}

/** The refusal of an input. */
export function tooDeep(): TRPCError {
  return new TRPCError({
    code: 'BAD_REQUEST',
    message: `The input is nested deeper than ${MAX_DEPTH} levels.`,
    cause: new InputTooDeepError(),
  });
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Whether it is an integer in the form of `tagDigits`. */
export function isTagged(value: unknown): value is Record<typeof TAG, string> {
  if (typeof value !== 'object' || value === null || !(TAG in value)) return false;
  const digits = value[TAG];
  return Object.keys(value).length === 1 && typeof digits === 'string' && /^-?\d{1,4300}$/.test(digits);
}
