// The type of a lossless JSON value (integers beyond 2^53 are bigint), its type guards and equality.

export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonMap = { readonly [key: string]: JsonValue };

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** An object without a prototype, so that keys like `__proto__` are keys. */
export function emptyMap<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

/** Equality of JSON values: keys in any order, numbers by value. */
export function equalJson(a: JsonValue, b: JsonValue): boolean {
  if (isNumeric(a) && isNumeric(b)) return a <= b && a >= b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (isList(a) || isList(b))
    return isList(a) && isList(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]!));
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && equalJson(a[key]!, b[key]!))
  );
}

function isNumeric(value: JsonValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
