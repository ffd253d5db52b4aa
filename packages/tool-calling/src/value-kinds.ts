// Which values a JSON Schema allows, as far as a notation that is not JSON has to know. Local references are followed.

import { mergeSchema, printValue } from './merged-schema.ts';
import type { ToolSchema } from './tool-dialect.ts';

export type ValueType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'object' | 'array';

/** Integers are among the numbers. */
const ALL_TYPES: readonly ValueType[] = ['string', 'number', 'boolean', 'null', 'object', 'array'];
const TYPES: ReadonlySet<unknown> = new Set([...ALL_TYPES, 'integer']);

/** Whether the schema says nothing of types. */
export function allowsAllTypes(types: ReadonlySet<ValueType>): boolean {
  return types.size === ALL_TYPES.length;
}

/** Types of the values that the schema allows. All of them where it does not say, or says it in another way. */
export function typesOf(schema: unknown, root: ToolSchema): ReadonlySet<ValueType> {
  return readTypes(schema, root, new Map());
}

/**
 * `known`: types of schemas seen before; a schema that is still being read has none, so that a reference back
 * to it adds nothing.
 */
function readTypes(
  schema: unknown,
  root: ToolSchema,
  known: Map<unknown, ReadonlySet<ValueType>>,
): ReadonlySet<ValueType> {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const merged = mergeSchema(schema, root);
  if (merged === null) return new Set(ALL_TYPES);
  known.set(schema, new Set());
  const { type, enum: values, anyOf, oneOf } = merged.schema;
  let types: ReadonlySet<ValueType> = new Set(ALL_TYPES);
  if (typeof type === 'string' || Array.isArray(type))
    types = narrow(
      types,
      [type].flat().filter((name): name is ValueType => TYPES.has(name)),
    );
  if ('const' in merged.schema) types = narrow(types, [typeOf(merged.schema.const)]);
  if (Array.isArray(values)) types = narrow(types, values.map(typeOf));
  for (const branches of [anyOf, oneOf])
    if (Array.isArray(branches))
      types = narrow(
        types,
        branches.flatMap(branch => [...readTypes(branch, root, known)]),
      );
  known.set(schema, types);
  return types;
}

/** Types that are in both. */
function narrow(a: ReadonlySet<ValueType>, others: readonly ValueType[]): ReadonlySet<ValueType> {
  const b = new Set(others);
  const both = [...new Set([...a, ...b])].filter(type => isAmong(type, a) && isAmong(type, b));
  return new Set(both.includes('number') ? both.filter(type => type !== 'integer') : both);
}

function isAmong(type: ValueType, types: ReadonlySet<ValueType>): boolean {
  return types.has(type) || (type === 'integer' && types.has('number'));
}

/** The type of a value of JSON. */
export function typeOf(value: unknown): ValueType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'object':
      return 'object';
    default:
      return 'number';
  }
}

function isOfTypes(value: unknown, types: ReadonlySet<ValueType>): boolean {
  if (types.has(typeOf(value))) return true;
  return types.has('integer') && (typeof value === 'bigint' || Number.isInteger(value));
}

/** The values that `const` and `enum` leave of these types; null where there is neither. */
export function valuesOf(schema: ToolSchema, types: ReadonlySet<ValueType>): readonly unknown[] | null {
  const { const: only, enum: several } = schema;
  const isListed = Array.isArray(several);
  if (!('const' in schema) && !isListed) return null;
  const listed = isListed ? new Set(several.map(printValue)) : null;
  const values = 'const' in schema ? [only] : (several as readonly unknown[]);
  return values.filter(value => isOfTypes(value, types) && (listed?.has(printValue(value)) ?? true));
}

/** The JSON of an argument that is written as text: a value of JSON where these types allow it, and else a string. */
export function readTextValue(text: string, types: ReadonlySet<ValueType>): string {
  if (!types.has('string')) return text;
  if (types.size > 1)
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'string' && isOfTypes(value, types)) return text;
    } catch {
      // It is a string.
    }
  return JSON.stringify(text);
}
