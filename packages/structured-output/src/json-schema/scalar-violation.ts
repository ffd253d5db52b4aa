// The keywords about types, constants, numbers, strings and lengths, checked on a value. Called by find-violation.ts.

import { equalJson, isList, isMap, type JsonMap, type JsonValue, printJson } from '@ortler/json';
import { STRING_FORMATS } from './formats.ts';
import type { PartChecker, Violation } from './violation.ts';

export function findScalarViolation(
  source: JsonMap,
  value: JsonValue,
  place: string,
  checker: Pick<PartChecker, 'matches'>,
): Violation | null {
  const { type, enum: allowed } = source;
  const broken = (keyword: string): Violation => ({ keyword, place });
  if (type !== undefined && !(isList(type) ? type : [type]).some(name => hasType(value, name)))
    return broken('type');
  if (isList(allowed) && !allowed.some(item => equalJson(item, value))) return broken('enum');
  if (source.const !== undefined && !equalJson(source.const, value)) return broken('const');
  if (typeof value === 'number' || typeof value === 'bigint') {
    const keyword = brokenNumberKeyword(source, value);
    return keyword === null ? null : broken(keyword);
  }
  if (typeof value === 'string') {
    const keyword = brokenStringKeyword(source, value, checker);
    return keyword === null ? null : broken(keyword);
  }
  if (!isList(value)) return null;
  if (value.length < Number(source.minItems ?? 0)) return broken('minItems');
  if (value.length > Number(source.maxItems ?? Infinity)) return broken('maxItems');
  return source.uniqueItems === true && hasDuplicates(value) ? broken('uniqueItems') : null;
}

function hasType(value: JsonValue, type: JsonValue): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'integer':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint';
    case 'array':
      return isList(value);
    case 'object':
      return isMap(value);
    default:
      return typeof value === type;
  }
}

function brokenNumberKeyword(source: JsonMap, value: number | bigint): string | null {
  const bound = (keyword: string): number | bigint | null => {
    const limit = source[keyword];
    return typeof limit === 'number' || typeof limit === 'bigint' ? limit : null;
  };
  const [minimum, maximum] = [bound('minimum'), bound('maximum')];
  const [above, below] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')];
  const divisor = bound('multipleOf');
  if (minimum !== null && value < minimum) return 'minimum';
  if (maximum !== null && value > maximum) return 'maximum';
  if (above !== null && value <= above) return 'exclusiveMinimum';
  if (below !== null && value >= below) return 'exclusiveMaximum';
  return divisor !== null && !isMultiple(value, divisor) ? 'multipleOf' : null;
}

/** Exact, in decimal: 0.3 is a multiple of 0.1. */
export function isMultiple(value: number | bigint, divisor: number | bigint): boolean {
  const [a, b] = [toDecimal(value), toDecimal(divisor)];
  if (a === null || b === null) return false;
  const exponent = Math.min(a.exponent, b.exponent);
  const scale = (decimal: { mantissa: bigint; exponent: number }) =>
    decimal.mantissa * 10n ** BigInt(decimal.exponent - exponent);
  return scale(a) % scale(b) === 0n;
}

/** Null for infinities, which numbers past 1e308 have become. */
export function toDecimal(value: number | bigint): { mantissa: bigint; exponent: number } | null {
  const match = /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (match === null) return null;
  const [, whole, fraction = '', exponent = '0'] = match;
  return { mantissa: BigInt(whole! + fraction), exponent: Number(exponent) - fraction.length };
}

function brokenStringKeyword(
  source: JsonMap,
  value: string,
  checker: Pick<PartChecker, 'matches'>,
): string | null {
  const { minLength, maxLength, pattern, format } = source;
  if (minLength !== undefined || maxLength !== undefined) {
    const length = [...value].length;
    if (length < Number(minLength ?? 0)) return 'minLength';
    if (length > Number(maxLength ?? Infinity)) return 'maxLength';
  }
  if (typeof pattern === 'string' && !checker.matches(pattern, value)) return 'pattern';
  const known = typeof format === 'string' ? STRING_FORMATS.get(format) : undefined;
  if (known === undefined) return null;
  const isRight = checker.matches(known.pattern, value) && value.length <= (known.maxLength ?? Infinity);
  return isRight ? null : 'format';
}

function hasDuplicates(value: readonly JsonValue[]): boolean {
  const printed = new Set<string>();
  for (const item of value) {
    const text = printJson(inKeyOrder(item));
    if (printed.has(text)) return true;
    printed.add(text);
  }
  return false;
}

function inKeyOrder(value: JsonValue): JsonValue {
  if (isList(value)) return value.map(inKeyOrder);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(key => [key, inKeyOrder(value[key]!)]),
  );
}
