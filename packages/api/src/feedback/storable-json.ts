// Client input as JSON that every database stores: numbers are doubles, text contains no NUL and no unpaired
// surrogates, nesting is limited.

import { nextTurn, Turns } from '@ortler/worker';
import { ApiError } from '../trpc/errors.ts';

/** Source: the original service. Unit: UTF-16 units of the JSON text. */
export const MAX_PAYLOAD_LENGTH = 1_048_576;
/** Deeper than any REST body may be; limits tRPC callers. */
const MAX_DEPTH = 128;
/** Values between two looks at the clock. */
const VALUES_PER_PAUSE = 256;
/** To write down so many takes a slice of time. */
const LARGE_COUNT = 5_000;

/**
 * As `toStorableText`. Throws: `invalid_parameter` also for more than `MAX_PAYLOAD_LENGTH`.
 */
export async function toPayloadDump(payload: Readonly<Record<string, unknown>>): Promise<string> {
  const dump = await toStorableText(payload, 'payload');
  if (dump.length > MAX_PAYLOAD_LENGTH) throw refusal('payload', 'Feedback payload too large');
  return dump;
}

/**
 * The JSON text of a value; integers of any size are doubles. Yields to the event loop: a value may have megabytes.
 * Throws: `invalid_parameter` for one that cannot be stored.
 */
export async function toStorableText(value: object, place: string): Promise<string> {
  const { hasBigint, count } = await checkStorable(value, place);
  if (count > LARGE_COUNT) await nextTurn();
  return hasBigint ? JSON.stringify(value, bigintsAsNumbers) : JSON.stringify(value);
}

/** Checks all values inside of `root`, in the order of the text, counts them and looks for a bigint. Throws: `invalid_parameter`. */
async function checkStorable(
  root: object,
  place: string,
): Promise<{ readonly hasBigint: boolean; readonly count: number }> {
  const turns = new Turns();
  let hasBigint = false;
  const open: { readonly value: object; readonly keys: readonly string[] | null; next: number }[] = [];
  const enter = (value: object) => {
    if (open.length >= MAX_DEPTH) throw refusal(place, `${place} is nested deeper than ${MAX_DEPTH} levels`);
    open.push({ value, keys: Array.isArray(value) ? null : Object.keys(value), next: 0 });
  };
  enter(root);
  let count = 1;
  for (; open.length > 0; count++) {
    if (count % VALUES_PER_PAUSE === 0) await turns.pause();
    const frame = open.at(-1)!;
    const { value, keys } = frame;
    const length = keys?.length ?? (value as readonly unknown[]).length;
    if (frame.next === length) {
      open.pop();
      continue;
    }
    const key = keys?.[frame.next] ?? frame.next;
    frame.next += 1;
    if (typeof key === 'string') checkText(key, place);
    const inner = (value as Readonly<Record<string | number, unknown>>)[key];
    if (typeof inner === 'object' && inner !== null) enter(inner);
    else if (typeof inner === 'bigint') hasBigint = true;
    else storable(inner, place, 0);
  }
  return { hasBigint, count };
}

function bigintsAsNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
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
