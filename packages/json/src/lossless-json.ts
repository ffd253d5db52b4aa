// Lossless JSON: integers outside ±(2^53 - 1) are parsed as bigint and written back digit by digit.

import { parseNatively } from './escaped-names.ts';
import { findJsonFault } from './json-fault.ts';
import { readSlices, SliceFault, type StringReviver, TooDeep } from './json-slices.ts';
import { findStringEnd } from './json-strings.ts';
import type { JsonValue } from './json-value.ts';
import { isInRange, isInteger, MAX_INTEGER_DIGITS } from './number-range.ts';

/** `depth`: nested deeper than the reader allows. `number`: a number that is beyond all doubles or has too many digits. */
export type JsonLimit = 'depth' | 'number';

/** Text that is not acceptable JSON. */
export class JsonSyntaxError extends SyntaxError {
  override readonly name = 'JsonSyntaxError';
  /** Characters from the start of the text to the fault. Unit: UTF-16 code units. */
  readonly position: number;
  /** The limit that the text exceeds; null where the text is not JSON. */
  readonly limit: JsonLimit | null;

  constructor(
    reason: string,
    position: number,
    { limit = null, ...options }: ErrorOptions & { readonly limit?: JsonLimit | null | undefined } = {},
  ) {
    super(`${reason} at position ${position}`, options);
    this.position = position;
    this.limit = limit;
  }
}

/** What a text holds beyond a limit, in words; undefined where it is not JSON. */
export function describeJsonLimit(
  limit: JsonLimit | null,
  { maxDepth = DEFAULT_JSON_DEPTH }: LosslessJsonOptions = {},
): string | undefined {
  if (limit === null) return undefined;
  return limit === 'depth'
    ? `more than ${maxDepth} nested levels`
    : `a number beyond ±1.8e308, or an integer of more than ${MAX_INTEGER_DIGITS} digits`;
}

export interface LosslessJsonOptions {
  /** How deep objects and lists may be nested. Default: `DEFAULT_JSON_DEPTH`. */
  readonly maxDepth?: number;
}

export interface SlicedJsonOptions extends LosslessJsonOptions {
  /** Characters that are read at once, unless a name or number is longer. Default: 32 KB, at most a millisecond's work. */
  readonly sliceLength?: number;
  /** Characters from which on a string is parsed apart from its slice. Default: 16 KB. */
  readonly longLength?: number;
}

/** How deep objects and lists may be nested where nothing else is said. */
export const DEFAULT_JSON_DEPTH = 128;
const DEFAULT_SLICE_LENGTH = 32 * 1024;
const DEFAULT_LONG_LENGTH = 16 * 1024;

/**
 * Only such text can hold an integer above 2^53 (16 digits that are not a fraction) or a number beyond all doubles (a
 * three-digit exponent). Log probabilities have long fractions, and the exact reading costs ten times the fast one.
 */
export const MAY_HOLD_BIG_NUMBER = /(?:^|[^\d.])\d{16}|\d[eE]\+?\d{3}/;
const STARTS_NESTED = /^[ \t\n\r]*[{[]/;

/** `JSON.rawJSON`, which V8 has and TypeScript does not declare. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/**
 * Like `JSON.parse`, but integers outside ±(2^53 - 1) become bigint. A number never becomes an infinity.
 * Throws: JsonSyntaxError for malformed text, for nesting past the limit, for integers of more than `MAX_INTEGER_DIGITS` and for
 * other numbers that no double can hold.
 */
export function parseLosslessJson(text: string, options: LosslessJsonOptions = {}): unknown {
  checkDepth(text, options.maxDepth ?? DEFAULT_JSON_DEPTH);
  try {
    return parseNumbers(text);
  } catch (error) {
    const { reason, position, limit } = findJsonFault(text);
    throw new JsonSyntaxError(reason, position, { limit, cause: error });
  }
}

/** Only such text can hold a whole number that is written as a float. */
const MAY_HOLD_WHOLE_FLOAT = /\.0+(?!\d)|\d[eE]/;

/**
 * Like `parseLosslessJson`, but whole numbers that are written as floats (`20.0`, `2e1`) are `Number` objects, for readers that tell
 * them from integers. Throws: JsonSyntaxError.
 */
export function parseTypedJson(text: string, options: LosslessJsonOptions = {}): unknown {
  const value = parseLosslessJson(text, options);
  return MAY_HOLD_WHOLE_FLOAT.test(text) ? parseNatively(text, reviveTyped) : value;
}

/**
 * Like `parseLosslessJson`, in slices: yields between them, so that other work can run while a large text is parsed. Throws
 * the first of several faults.
 */
export function* parseLosslessJsonInSlices(
  text: string,
  options: SlicedJsonOptions = {},
): Generator<void, unknown> {
  const {
    maxDepth = DEFAULT_JSON_DEPTH,
    sliceLength = DEFAULT_SLICE_LENGTH,
    longLength = DEFAULT_LONG_LENGTH,
  } = options;
  if (!STARTS_NESTED.test(text)) return parseLosslessJson(text, options);
  try {
    return yield* readSlices(text, { maxDepth, sliceLength, longLength, parse: parseNumbers });
  } catch (error) {
    if (error instanceof TooDeep) throw tooDeep(maxDepth, error.position);
    if (!(error instanceof SliceFault)) throw error;
    const { reason, position, limit } = findJsonFault(error.head + text.slice(error.start));
    throw new JsonSyntaxError(reason, position - error.head.length + error.start, { limit, cause: error });
  }
}

/**
 * Like `JSON.stringify`, but bigints are written as integers.
 * Throws: TypeError for NaN and infinities, which JSON does not have.
 */
export function stringifyLosslessJson(value: unknown): string {
  return JSON.stringify(value, replaceNumber);
}

/**
 * Like `parseLosslessJson` without its limits: any depth, and a number beyond all doubles is an infinity. For text whose size and
 * depth are bounded elsewhere. Throws: SyntaxError.
 */
export function parseJson(text: string): JsonValue {
  return parseNatively(text, reviveInteger) as JsonValue;
}

/** The text of a value, with bigints as integers. Throws: TypeError for anything but a tree of JSON values. */
export function printJson(value: JsonValue): string {
  try {
    // A replacer costs five times as much, and only bigints need one.
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, replaceBigInt);
  }
}

/** Throws: SyntaxError, RangeError. */
function parseNumbers(text: string, revive?: StringReviver): unknown {
  const isExact = MAY_HOLD_BIG_NUMBER.test(text);
  if (revive === undefined) return parseNatively(text, isExact ? reviveNumber : undefined);
  return parseNatively(text, (key, value, context) => {
    if (typeof value === 'string') return revive(value);
    return isExact ? reviveNumber(key, value, context) : value;
  });
}

function tooDeep(maxDepth: number, position: number): JsonSyntaxError {
  return new JsonSyntaxError(`More than ${maxDepth} nested levels`, position, { limit: 'depth' });
}

function reviveNumber(key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  if (!isInRange(context.source ?? '', value)) throw new RangeError('number out of range');
  return reviveInteger(key, value, context);
}

function reviveInteger(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return isInteger(context.source ?? '') ? BigInt(context.source!) : value;
}

function reviveTyped(key: string, value: unknown, context: { source?: string }): unknown {
  const isWholeFloat = Number.isSafeInteger(value) && !isInteger(context.source ?? '');
  return isWholeFloat ? Object(value) : reviveInteger(key, value, context);
}

function replaceNumber(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`JSON has no ${value}.`);
  return replaceBigInt(key, value);
}

function replaceBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJSON(String(value)) : value;
}

/** Deep nesting would exhaust the stack of every recursive reader that follows the parser, so it is refused before. */
function checkDepth(text: string, maxDepth: number): void {
  let depth = 0;
  for (let position = 0; position < text.length; position++) {
    switch (text.charCodeAt(position)) {
      case 0x22: // "
        position = findStringEnd(text, position);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        if (depth > maxDepth) throw tooDeep(maxDepth, position);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
    }
  }
}
