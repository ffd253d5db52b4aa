// Counts in schemas, such as `minItems`.

import { refuse } from '../refuse.ts';
import type { JsonValue } from './json-value.ts';

/** Throws: `invalid_request` unless the value is a whole number of at least 0. */
export function checkCount(value: JsonValue, place: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
    refuse(place, 'A count must be a whole number of at least 0');
  return value;
}
