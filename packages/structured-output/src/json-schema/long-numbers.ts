// Whether a schema itself has numbers that the limits on the length of numbers would not let through.

import { isList, isMap, type JsonValue } from '@ortler/json';
import { NUMBER_LIMITS } from '../json-form.ts';

const LONGEST = 10 ** NUMBER_LIMITS.integerDigits;
/** Written with more zeros after the point than the limits leave uncounted. */
const SMALLEST = 1e-6;

/** Looks at every number in the schema: bounds, factors, and values of `enum` and `const`. */
export function hasLongNumbers(schema: JsonValue): boolean {
  if (typeof schema === 'number' || typeof schema === 'bigint') {
    const size = Math.abs(Number(schema));
    return size >= LONGEST || (size > 0 && size < SMALLEST);
  }
  if (isList(schema)) return schema.some(hasLongNumbers);
  return isMap(schema) && Object.values(schema).some(hasLongNumbers);
}
