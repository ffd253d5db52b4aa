// Compares a value with a shape: names of fields and kinds of values. Caller: request-shape.ts.

import { describeValue } from './describe-value.ts';
import { wrongParameter } from './parameter-checks.ts';

export type Shape =
  /** Checked elsewhere. */
  | 'any'
  | 'text'
  | 'number'
  | 'flag'
  | 'object'
  | 'text or object'
  | 'token ids'
  | { readonly listOf: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> };

/** A field that is undefined counts as not given. Throws: `invalid_request` naming the place. */
export function checkShape(path: string, value: unknown, shape: Shape): void {
  if (shape === 'any' || value === undefined) return;
  if (typeof shape === 'string') checkKind(path, value, shape);
  else if ('listOf' in shape) checkList(path, value, shape.listOf);
  else checkFields(path, value, shape.fields);
}

const KINDS = {
  text: { words: 'text', holds: isText },
  number: { words: 'a number', holds: (value: unknown) => typeof value === 'number' },
  flag: { words: 'true or false', holds: (value: unknown) => typeof value === 'boolean' },
  object: { words: 'an object', holds: isObject },
  'text or object': {
    words: 'text or an object',
    holds: (value: unknown) => isText(value) || isObject(value),
  },
  'token ids': {
    words: 'a list of token ids',
    holds: (value: unknown) => Array.isArray(value) || value instanceof Int32Array,
  },
} as const;

function checkKind(path: string, value: unknown, kind: keyof typeof KINDS): void {
  const { words, holds } = KINDS[kind];
  if (!holds(value))
    throw wrongParameter(path, `${nameOf(path)} must be ${words}; got ${describeValue(value)}.`);
}

function checkList(path: string, value: unknown, shape: Shape): void {
  if (!Array.isArray(value))
    throw wrongParameter(path, `${nameOf(path)} must be a list; got ${describeValue(value)}.`);
  if (shape === 'any') return;
  for (const [index, item] of value.entries()) checkShape(`${path}[${index}]`, item ?? null, shape);
}

function checkFields(path: string, value: unknown, fields: Readonly<Record<string, Shape>>): void {
  checkKind(path, value, 'object');
  const prefix = path === '' ? '' : `${path}.`;
  for (const [name, inner] of Object.entries(value as object)) {
    if (inner === undefined) continue;
    const place = `${prefix}${name}`;
    if (!Object.hasOwn(fields, name)) {
      const known = Object.keys(fields).join(', ');
      throw wrongParameter(place, `${place} is unknown; ${nameOf(path)} has ${known}.`);
    }
    checkShape(place, inner, fields[name]!);
  }
}

function nameOf(path: string): string {
  return path === '' ? 'the request' : path;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
