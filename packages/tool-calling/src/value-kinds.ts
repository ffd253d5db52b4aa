// Which values a JSON Schema allows, as far as a notation that is not JSON has to know. Local references are followed.

import type { ToolSchema } from './tool-dialect.ts';

export type ValueType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'object' | 'array';

const ALL_TYPES: readonly ValueType[] = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'];
const TYPES: ReadonlySet<unknown> = new Set(ALL_TYPES);

/** More references in a row than any schema has; a circle of references ends here. */
const REFERENCE_LIMIT = 32;

export function isSchema(value: unknown): value is ToolSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema behind `$ref`; the schema itself without one. Null for references that lead nowhere or elsewhere. */
export function followReferences(schema: ToolSchema, root: ToolSchema): ToolSchema | null {
  let current: unknown = schema;
  for (let step = 0; step < REFERENCE_LIMIT; step++) {
    if (!isSchema(current)) return null;
    const { $ref } = current;
    if ($ref === undefined) return current;
    if (typeof $ref !== 'string' || !$ref.startsWith('#')) return null;
    current = resolvePointer(root, $ref.slice(1));
  }
  return null;
}

/** Types of the values that the schema allows. All of them where it does not say, or says it in another way. */
export function typesOf(schema: unknown, root: ToolSchema): ReadonlySet<ValueType> {
  return readTypes(schema, root, REFERENCE_LIMIT);
}

function readTypes(schema: unknown, root: ToolSchema, depth: number): ReadonlySet<ValueType> {
  const found = isSchema(schema) && depth > 0 ? followReferences(schema, root) : null;
  if (found === null) return new Set(ALL_TYPES);
  const { type, const: only, enum: values, anyOf, oneOf, allOf } = found;
  if (typeof type === 'string' || Array.isArray(type)) {
    const listed = [type].flat().filter((name): name is ValueType => TYPES.has(name));
    return new Set(listed);
  }
  if ('const' in found) return new Set([typeOf(only)]);
  if (Array.isArray(values)) return new Set(values.map(typeOf));
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches))
    return new Set(branches.flatMap(branch => [...readTypes(branch, root, depth - 1)]));
  if (Array.isArray(allOf)) {
    const all = allOf.map(part => readTypes(part, root, depth - 1));
    return new Set(ALL_TYPES.filter(name => all.every(types => types.has(name))));
  }
  return new Set(ALL_TYPES);
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

function resolvePointer(root: ToolSchema, path: string): unknown {
  let current: unknown = root;
  for (const step of path.split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(current)) current = current[Number(key)];
    else if (isSchema(current) && Object.hasOwn(current, key)) current = current[key];
    else return undefined;
  }
  return current;
}
