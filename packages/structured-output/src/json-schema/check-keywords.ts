// Checks of the values of keywords. All throw `invalid_constraint` with the place of the fault.

import { isList, isMap, type JsonValue } from '@ortler/json';
import { refuse } from '../refuse.ts';

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

/** The value of a keyword such as `minItems`. */
export function checkCount(value: JsonValue, place: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
    refuse(place, 'A count must be a whole number of at least 0');
  return value;
}

export function checkType(value: JsonValue, place: string): JsonValue {
  const names = isList(value) ? value : [value];
  if (names.length === 0 || !names.every(name => typeof name === 'string' && TYPES.has(name)))
    refuse(place, `type must be one or several of ${[...TYPES].join(', ')}`);
  return value;
}

export function checkNumber(value: JsonValue, keyword: string, place: string): number | bigint {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (!isNumber || (keyword === 'multipleOf' && value <= 0))
    refuse(place, `${keyword} must be a number${keyword === 'multipleOf' ? ' above 0' : ''}`);
  if (!Number.isFinite(Number(value))) refuse(place, `${keyword} must lie within ±1.8e308`);
  return value;
}

export function checkSchemas(value: JsonValue, place: string): readonly JsonValue[] {
  if (!isList(value)) refuse(place, 'A list of schemas was expected');
  return value;
}

/** llguidance reads numbers as doubles, so most values past 2^53 would come out as their neighbours. */
export function refuseLongNumbers(value: JsonValue, place: string): JsonValue {
  if (typeof value === 'bigint' && String(Number(value)) !== String(value))
    refuse(place, `The number ${value} has too many digits to be enforced; write it as a string`);
  if (isList(value)) for (const item of value) refuseLongNumbers(item, place);
  if (isMap(value)) for (const item of Object.values(value)) refuseLongNumbers(item, place);
  return value;
}
