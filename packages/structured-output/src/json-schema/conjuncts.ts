// The schemas that hold together for one value: a schema, the parts of its `allOf`, and what they refer to.

import { isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';
import { pointer } from '../refuse.ts';
import type { SchemaReferences } from './resolve-ref.ts';

export interface Conjunct {
  readonly schema: JsonMap;
  readonly base: string;
  readonly place: string;
}

/** Each of them once, in the order in which they are met. A fault in a reference is left to the walk of the schema. */
export function collectConjuncts(
  start: { readonly schema: JsonValue; readonly base: string; readonly place: string },
  references: SchemaReferences,
): readonly Conjunct[] {
  const found: Conjunct[] = [];
  const open = [start];
  const seen = new Set<JsonValue>();
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    const { schema, place } = at;
    if (!isMap(schema) || seen.has(schema)) continue;
    seen.add(schema);
    const base = references.enter(schema, at.base);
    found.push({ schema, base, place });
    const target = typeof schema.$ref === 'string' ? references.resolve(schema.$ref, base) : null;
    if (target !== null) open.push({ ...target, place: pointer(place, '$ref') });
    if (isList(schema.allOf))
      open.push(
        ...schema.allOf.map((part, i) => ({ schema: part, base, place: pointer(place, 'allOf', i) })),
      );
  }
  return found;
}

/** Names that the schema declares or requires. */
export function namesOf({ properties, required }: JsonMap): readonly string[] {
  const needed = isList(required) ? required.filter(name => typeof name === 'string') : [];
  return [...(isMap(properties) ? Object.keys(properties) : []), ...needed];
}
