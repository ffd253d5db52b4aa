// Merges a schema with its `$ref` and `allOf` into one object: the forms of arguments that are not JSON look
// for each keyword in one place.

import { emptyMap, printJson } from '@ortler/json';
import type { ToolSchema } from './tool-dialect.ts';

export interface MergedSchema {
  readonly schema: ToolSchema;
  /**
   * A keyword for which parts of the schema have values that cannot be merged, so that the first one counts;
   * null: none.
   */
  readonly conflict: string | null;
}

/** Maximum number of parts of a schema: those that double with every reference would take forever. */
const PART_LIMIT = 256;

/** Keywords that do not constrain values, or hold definitions. */
export const SILENT_KEYWORDS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  '$ref',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'strict',
  'nullable',
]);

export function isSchema(value: unknown): value is ToolSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null for a circle of references, and for one that leads nowhere or elsewhere. */
export function mergeSchema(schema: unknown, root: ToolSchema): MergedSchema | null {
  const parts: ToolSchema[] = [];
  if (!collectParts(schema, root, parts, new Set())) return null;
  const [first = {}, ...others] = parts;
  const merged = Object.assign(emptyMap<unknown>(), first);
  let conflict = findClosedPart(parts);
  for (const part of others)
    for (const [keyword, value] of Object.entries(part)) {
      const both = Object.hasOwn(merged, keyword) ? merge(keyword, merged[keyword], value) : value;
      if (both === undefined) conflict ??= keyword;
      else merged[keyword] = both;
    }
  return { schema: merged, conflict };
}

/** Unwraps an `allOf` with a single part, where nothing beside it constrains values. */
export function peelSchema(schema: unknown): unknown {
  if (!isSchema(schema) || !Array.isArray(schema.allOf) || schema.allOf.length !== 1) return schema;
  const isAlone = Object.keys(schema).every(key => key === 'allOf' || isSilent(key));
  return isAlone && schema.$ref === undefined ? peelSchema(schema.allOf[0]) : schema;
}

const isSilent = (keyword: string) => SILENT_KEYWORDS.has(keyword);

/** False where a reference cannot be followed. Mutates: adds to `parts`. */
function collectParts(
  schema: unknown,
  root: ToolSchema,
  parts: ToolSchema[],
  within: ReadonlySet<unknown>,
): boolean {
  if (schema === true) return true;
  if (!isSchema(schema) || within.has(schema) || parts.length === PART_LIMIT) return false;
  const { $ref, allOf, ...own } = schema;
  parts.push(own);
  const inside = new Set([...within, schema]);
  const also: unknown[] = Array.isArray(allOf) ? [...allOf] : [];
  if ($ref !== undefined) {
    if (typeof $ref !== 'string' || !$ref.startsWith('#')) return false;
    also.unshift(resolvePointer(root, $ref.slice(1)));
  }
  return also.every(part => collectParts(part, root, parts, inside));
}

/**
 * `additionalProperties`, where one part restricts further properties and more than one part names
 * properties.
 */
function findClosedPart(parts: readonly ToolSchema[]): string | null {
  const isNaming = parts.filter(({ properties }) => properties !== undefined).length > 1;
  const isOpen = ({ additionalProperties: each }: ToolSchema) => each === undefined || each === true;
  return isNaming && !parts.every(isOpen) ? 'additionalProperties' : null;
}

const LOWER_BOUNDS = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const UPPER_BOUNDS = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']);

/** A value of the keyword that means both; undefined where there is none. */
function merge(keyword: string, a: unknown, b: unknown): unknown {
  if (isSilent(keyword) || printValue(a) === printValue(b)) return a;
  if (typeof a === 'number' && typeof b === 'number') {
    if (LOWER_BOUNDS.has(keyword)) return Math.max(a, b);
    if (UPPER_BOUNDS.has(keyword)) return Math.min(a, b);
  }
  if (keyword === 'properties' && isSchema(a) && isSchema(b)) {
    const merged = Object.assign(emptyMap<unknown>(), a);
    for (const [name, schema] of Object.entries(b))
      merged[name] = Object.hasOwn(a, name) ? { allOf: [a[name], schema] } : schema;
    return merged;
  }
  if (keyword === 'required' && Array.isArray(a) && Array.isArray(b)) return [...new Set([...a, ...b])];
  if (keyword === 'enum' && Array.isArray(a) && Array.isArray(b)) {
    const others = new Set(b.map(printValue));
    return a.filter(value => others.has(printValue(value)));
  }
  return keyword === 'type' ? mergeTypes([a].flat(), [b].flat()) : undefined;
}

/** An integer is a number. */
function mergeTypes(a: readonly unknown[], b: readonly unknown[]): readonly unknown[] {
  const isIn = (type: unknown, types: readonly unknown[]) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...a, ...b])].filter(type => isIn(type, a) && isIn(type, b));
}

/** JSON of a value that a schema names, big integers included. */
export const printValue = (value: unknown) => printJson(value as never);

function resolvePointer(root: ToolSchema, path: string): unknown {
  let current: unknown = root;
  for (const step of path.split('/').slice(1)) {
    const key = decodeStep(step);
    if (Array.isArray(current)) current = current[Number(key)];
    else if (isSchema(current) && Object.hasOwn(current, key)) current = current[key];
    else return undefined;
  }
  return current;
}

function decodeStep(step: string): string {
  const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
