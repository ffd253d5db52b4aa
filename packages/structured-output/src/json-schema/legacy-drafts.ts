// Keywords of older JSON Schema drafts, rewritten to those of draft 2020-12.

import { isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';

/** Drafts 3 to 7 ignore keywords beside `$ref`. A schema without `$schema` is read as 2020-12. */
export function isLegacyDraft(document: JsonValue): boolean {
  const draft = isMap(document) ? document.$schema : undefined;
  return typeof draft === 'string' && /json-schema\.org\/draft-0[3-7]\//.test(draft);
}

/** A list under `items` with `additionalItems` -> `prefixItems` with `items`. */
export function readTuple(schema: JsonMap): JsonMap {
  if (!isList(schema.items)) return schema;
  const { items: prefixItems, additionalItems, ...rest } = schema;
  return { ...rest, prefixItems, ...(additionalItems !== undefined && { items: additionalItems }) };
}

/** `exclusiveMinimum: true` beside `minimum` (draft 4) -> the bound itself. */
export function rewriteExclusiveBounds(schema: JsonMap): JsonMap {
  if (typeof schema.exclusiveMinimum !== 'boolean' && typeof schema.exclusiveMaximum !== 'boolean')
    return schema;
  const rewritten: Record<string, JsonValue> = { ...schema };
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const flag = schema[exclusive];
    if (typeof flag !== 'boolean') continue;
    delete rewritten[exclusive];
    if (!flag || schema[bound] === undefined) continue;
    rewritten[exclusive] = schema[bound];
    delete rewritten[bound];
  }
  return rewritten;
}

/** `dependencies` (drafts up to 7) -> lists of names, and schemas. */
export function readDependencies(schema: JsonMap): {
  readonly required: readonly (readonly [string, JsonValue])[];
  readonly schemas: readonly (readonly [string, JsonValue])[];
} {
  const entries = (value: JsonValue | undefined) => (isMap(value) ? Object.entries(value) : []);
  const legacy = entries(schema.dependencies);
  return {
    required: [...entries(schema.dependentRequired), ...legacy.filter(([, value]) => isList(value))],
    schemas: [...entries(schema.dependentSchemas), ...legacy.filter(([, value]) => !isList(value))],
  };
}
