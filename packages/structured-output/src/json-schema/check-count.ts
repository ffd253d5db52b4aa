// Counts in schemas, such as `minItems`.

import type { JsonValue } from '@ortler/json';
import { refuse } from '../refuse.ts';

/** Throws: `invalid_constraint` unless the value is a whole number of at least 0. */
export function checkCount(value: JsonValue, place: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
    refuse(place, 'A count must be a whole number of at least 0');
  return value;
}
