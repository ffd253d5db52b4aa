// Coerces JSON values as pydantic's lax mode does ("0.5" is a number, "yes" is true), without a schema library.
// `lax-primitives.ts` turns these readers into schemas; `test/lax-coercion.test.ts` compares them with pydantic itself.

/** Why a value was refused, in pydantic's words. An object, so that it cannot be confused with a parsed value. */
export interface Rejection {
  readonly type: string;
  readonly msg: string;
}

const NUMBER_TEXT = /^[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER_TEXT = /^([+-]?\d+(?:_\d+)*)(?:\.0+)?$/;
const NON_FINITE_TEXT = /^[+-]?(?:inf|infinity|nan)$/i;
const TRUE_TEXT = new Set(['1', 'true', 't', 'yes', 'y', 'on']);
const FALSE_TEXT = new Set(['0', 'false', 'f', 'no', 'n', 'off']);

/** Longest text parsed as a number, which keeps parsing cheap. Source: pydantic's limit for integers. */
const MAX_NUMBER_TEXT_LENGTH = 4300;
/** Integers that need no BigInt; a fast path for long lists of ids in text. */
const SHORT_DIGITS = /^\d{1,15}$/;

const FLOAT_TYPE = rejection('float_type', 'Input should be a valid number');
const FLOAT_PARSING = rejection(
  'float_parsing',
  'Input should be a valid number, unable to parse string as a number',
);
const FINITE_NUMBER = rejection('finite_number', 'Input should be a finite number');
const INT_TYPE = rejection('int_type', 'Input should be a valid integer');
const INT_PARSING = rejection(
  'int_parsing',
  'Input should be a valid integer, unable to parse string as an integer',
);
const INT_FROM_FLOAT = rejection(
  'int_from_float',
  'Input should be a valid integer, got a number with a fractional part',
);
const INT_PARSING_SIZE = rejection(
  'int_parsing_size',
  'Unable to parse input string as an integer, exceeded maximum size',
);
const BOOL_TYPE = rejection('bool_type', 'Input should be a valid boolean');
const BOOL_PARSING = rejection('bool_parsing', 'Input should be a valid boolean, unable to interpret input');

/** A number, numeric text or a boolean. NaN and infinities are refused, also as text. */
export function readNumber(value: unknown): number | Rejection {
  if (typeof value === 'number') return Number.isFinite(value) ? value : FINITE_NUMBER;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint') {
    const rounded = Number(value);
    return Number.isFinite(rounded) ? rounded : FINITE_NUMBER;
  }
  if (typeof value !== 'string') return FLOAT_TYPE;
  if (value.length > MAX_NUMBER_TEXT_LENGTH) return FLOAT_PARSING;
  const text = value.trim();
  if (NON_FINITE_TEXT.test(text)) return FINITE_NUMBER;
  if (!NUMBER_TEXT.test(text)) return FLOAT_PARSING;
  const parsed = Number(text.replaceAll('_', ''));
  return Number.isFinite(parsed) ? parsed : FINITE_NUMBER;
}

/** An integer of any size, whole-number text or a boolean. Results outside ±(2^53 - 1) are bigint. */
export function readAnyInteger(value: unknown): number | bigint | Rejection {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    if (!Number.isFinite(value)) return FINITE_NUMBER;
    return Number.isInteger(value) ? BigInt(value) : INT_FROM_FLOAT;
  }
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint') return toSafeNumber(value);
  if (typeof value !== 'string') return INT_TYPE;
  if (SHORT_DIGITS.test(value)) return Number(value);
  if (value.length > MAX_NUMBER_TEXT_LENGTH) return INT_PARSING_SIZE;
  const match = INTEGER_TEXT.exec(value.trim());
  if (match === null) return INT_PARSING;
  // BigInt() does not accept a leading plus sign.
  return toSafeNumber(BigInt(match[1]!.replaceAll('_', '').replace('+', '')));
}

/** An integer within ±(2^53 - 1); larger ones are refused, because a number cannot represent them exactly. */
export function readInteger(value: unknown): number | Rejection {
  const integer = readAnyInteger(value);
  return typeof integer === 'bigint' ? INT_PARSING_SIZE : integer;
}

/** Like `readInteger`, but text is refused. Source: fields whose rules apply to the raw JSON value. */
export function readIntegerButNoText(value: unknown): number | Rejection {
  return typeof value === 'string' ? INT_TYPE : readInteger(value);
}

/** A boolean, 0 or 1, or one of the words true, false, yes, no, on, off, t, f, y, n, 0, 1 in any case. */
export function readBoolean(value: unknown): boolean | Rejection {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    const text = value.toLowerCase();
    if (TRUE_TEXT.has(text)) return true;
    return FALSE_TEXT.has(text) ? false : BOOL_PARSING;
  }
  if (typeof value === 'bigint') return BOOL_PARSING;
  if (typeof value !== 'number') return BOOL_TYPE;
  if (value === 1) return true;
  if (value === 0) return false;
  return Number.isSafeInteger(value) ? BOOL_PARSING : BOOL_TYPE;
}

function toSafeNumber(value: bigint): number | bigint {
  const rounded = Number(value);
  return Number.isSafeInteger(rounded) ? rounded : value;
}

function rejection(type: string, msg: string): Rejection {
  return Object.freeze({ type, msg });
}
