// Client input as JSON that every database stores: numbers are doubles or, in payloads, integers of 64 bits; text contains no NUL and
// no unpaired surrogates, nesting is limited.

import { Turns } from '@ortler/worker';
import { ApiError } from '../trpc/errors.ts';

/** Source: the original service. Unit: UTF-16 units of the JSON text. */
export const MAX_PAYLOAD_LENGTH = 1_048_576;
/** Deeper than any REST body may be; limits tRPC callers. */
const MAX_DEPTH = 128;
/** Values between two looks at the clock. */
const VALUES_PER_PAUSE = 256;

/** Integers that every database reads as numbers, signed or not. */
const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 64n - 1n;

/** Text of a value that is no object or list; undefined for what JSON leaves out. Throws: `invalid_parameter`. */
type WriteLeaf = (value: unknown, place: string) => string | undefined;

/**
 * As `toStorableText`, but integers within 64 bits keep their digits. Throws: `invalid_parameter` also for more than
 * `MAX_PAYLOAD_LENGTH`.
 */
export async function toPayloadDump(payload: Readonly<Record<string, unknown>>): Promise<string> {
  const dump = await toText(payload, 'payload', (value, place) =>
    typeof value === 'bigint' && value >= MIN_INTEGER && value <= MAX_INTEGER
      ? String(value)
      : toLeafText(value, place),
  );
  if (dump.length > MAX_PAYLOAD_LENGTH) throw refusal('payload', 'Feedback payload too large');
  return dump;
}

/** An object or list whose items are being written. */
interface OpenValue {
  readonly value: object;
  /** Null: a list. */
  readonly keys: readonly string[] | null;
  readonly length: number;
  next: number;
  hasItems: boolean;
}

/**
 * The text that `JSON.stringify` gives, with integers of any size as doubles. Written value by value, with turns of the event loop: a
 * value may have megabytes. Throws: `invalid_parameter` for one that cannot be stored.
 */
export function toStorableText(root: object, place: string): Promise<string> {
  return toText(root, place, toLeafText);
}

async function toText(root: object, place: string, writeLeaf: WriteLeaf): Promise<string> {
  const turns = new Turns();
  const open: OpenValue[] = [];
  let text = '';
  let parts: string[] = [];
  const enter = (value: object) => {
    if (open.length >= MAX_DEPTH) throw refusal(place, `${place} is nested deeper than ${MAX_DEPTH} levels`);
    const keys = Array.isArray(value) ? null : Object.keys(value);
    const { length } = keys ?? (value as readonly unknown[]);
    open.push({ value, keys, length, next: 0, hasItems: false });
    parts.push(keys === null ? '[' : '{');
  };
  enter(root);
  for (let count = 1; open.length > 0; count++) {
    if (count % VALUES_PER_PAUSE === 0) {
      text += parts.join('');
      parts = [];
      await turns.pause();
    }
    const level = open.at(-1)!;
    if (level.next === level.length) {
      parts.push(level.keys === null ? ']' : '}');
      open.pop();
      continue;
    }
    const key = level.keys?.[level.next] ?? level.next;
    level.next += 1;
    const item = (level.value as Readonly<Record<string | number, unknown>>)[key];
    const isNested = isStructure(item);
    const leaf = isNested ? '' : writeLeaf(item, place);
    // `undefined` is not a value of an object, and null in a list.
    if (leaf === undefined && level.keys !== null) continue;
    if (level.hasItems) parts.push(',');
    level.hasItems = true;
    if (typeof key === 'string') {
      checkText(key, place);
      parts.push(JSON.stringify(key), ':');
    }
    if (isNested) enter(item);
    else parts.push(leaf ?? 'null');
  }
  return text + parts.join('');
}

/** An object or list that JSON writes item by item; a date of a caller in this process writes itself. */
function isStructure(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !('toJSON' in value && typeof value.toJSON === 'function')
  );
}

/** Integers of any size as doubles. */
function toLeafText(value: unknown, place: string): string | undefined {
  return JSON.stringify(typeof value === 'object' ? value : storable(value, place, 0));
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
      if (!Number.isFinite(Number(value)))
        throw refusal(place, `${place} must not contain integers beyond ±1.8e308`);
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
