// Unproductive parts of a schema, which no finite value satisfies: an object that requires a property of its own schema, a
// reference to bounds that contradict each other. They become `false`, so that no generation enters them. An unproductive root
// is refused with its place.

import { emptyMap, isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';
import { pointer, refuse } from '../refuse.ts';

/**
 * The normalised schema with productive parts only. `empty`: names of definitions that are known to have no values, and why.
 * Throws: `invalid_constraint` when the root is unproductive.
 */
export function removeUnproductive(
  root: JsonValue,
  empty: ReadonlyMap<string, string> = new Map(),
): JsonValue {
  if (!isMap(root) || !isMap(root.$defs)) return root;
  const productive = new ProductiveSchemas(root.$defs, empty);
  if (productive.isComplete) return root;
  if (!productive.has(root)) {
    const { place, name } = productive.placeOfFault(root, '#');
    const why = empty.get(name) ?? 'what is required here contains itself without an end';
    refuse(place, `Nothing satisfies the schema: ${why}`);
  }
  const { $defs: definitions, ...rest } = root;
  const kept = emptyMap<JsonValue>();
  for (const [name, schema] of Object.entries(definitions as JsonMap))
    if (productive.has({ $ref: toReference(name) })) kept[name] = productive.prune(schema);
  return { ...(productive.prune(rest) as JsonMap), $defs: kept };
}

/** The definitions that a finite value satisfies. `false` counts as one: the compiler handles it. */
class ProductiveSchemas {
  readonly #definitions: JsonMap;
  readonly #productive = new Set<string>();

  constructor(definitions: JsonMap, empty: ReadonlyMap<string, string>) {
    this.#definitions = definitions;
    // Definitions mostly refer to later ones: from the back few rounds are enough.
    const open = Object.entries(definitions)
      .filter(([name]) => !empty.has(name))
      .reverse();
    let before = -1;
    while (before !== this.#productive.size) {
      before = this.#productive.size;
      for (const [name, schema] of open)
        if (!this.#productive.has(name) && this.has(schema)) this.#productive.add(name);
    }
  }

  get isComplete(): boolean {
    return this.#productive.size === Object.keys(this.#definitions).length;
  }

  /** False only when no finite value satisfies the schema. */
  has(schema: JsonValue | undefined): boolean {
    return this.#firstUnproductive(schema) === null;
  }

  /** The first reference of an unproductive schema to a part that contains itself, or has no values; and its definition. */
  placeOfFault(schema: JsonValue, place: string): { readonly place: string; readonly name: string } {
    const seen = new Map<string, string>();
    let name = '';
    for (let at = schema, here = place; ; ) {
      const step = this.#firstUnproductive(at);
      if (step === null) return { place: here, name };
      if (step.steps[0] === '$ref') name = toName(String((at as JsonMap).$ref));
      here = pointer(here, ...step.steps);
      at = step.schema;
      if (!isMap(at) || typeof at.$ref !== 'string') continue;
      const next = toName(at.$ref);
      const first = seen.get(next);
      if (first !== undefined) return { place: first, name };
      seen.set(next, pointer(here, '$ref'));
    }
  }

  /** A productive schema with `false` for each unproductive part. */
  prune(schema: JsonValue): JsonValue {
    if (!isMap(schema)) return schema;
    const copy = emptyMap<JsonValue>();
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties' || keyword === 'patternProperties') {
        const parts = emptyMap<JsonValue>();
        for (const [name, part] of Object.entries(value as JsonMap)) parts[name] = this.#pruned(part);
        copy[keyword] = parts;
      } else if (PART_LISTS.has(keyword))
        copy[keyword] = (value as readonly JsonValue[]).map(part => this.#pruned(part));
      else if (PARTS.has(keyword)) copy[keyword] = this.#pruned(value);
      else copy[keyword] = value;
    }
    return copy;
  }

  #pruned(part: JsonValue): JsonValue {
    return this.has(part) ? this.prune(part) : false;
  }

  /** The first unproductive part that makes a schema unproductive, and the steps to it; null for a productive schema. */
  #firstUnproductive(schema: JsonValue | undefined): Step | null {
    if (!isMap(schema)) return null;
    const reference = typeof schema.$ref === 'string' ? toName(schema.$ref) : null;
    if (reference !== null && !this.#productive.has(reference))
      return { steps: ['$ref'], schema: this.#definitions[reference]! };
    for (const [i, part] of listOf(schema.allOf).entries())
      if (!this.has(part)) return { steps: ['allOf', i], schema: part };
    for (const keyword of ['anyOf', 'oneOf']) {
      const parts = listOf(schema[keyword]);
      if (parts.length > 0 && !parts.some(part => this.has(part)))
        return { steps: [keyword, 0], schema: parts[0]! };
    }
    if (schema.const !== undefined || schema.enum !== undefined) return null;
    const steps = typesOf(schema).map(type =>
      type === 'object' ? this.#inObject(schema) : type === 'array' ? this.#inArray(schema) : null,
    );
    return steps.length > 0 && steps.every(step => step !== null) ? steps[0]! : null;
  }

  #inObject(schema: JsonMap): Step | null {
    const properties = schema.properties as JsonMap | undefined;
    for (const name of listOf(schema.required) as readonly string[]) {
      const part = properties !== undefined && Object.hasOwn(properties, name) ? properties[name]! : null;
      if (part !== null && !this.has(part)) return { steps: ['properties', name], schema: part };
      if (part === null && schema.patternProperties === undefined && !this.has(schema.additionalProperties))
        return { steps: ['additionalProperties'], schema: schema.additionalProperties! };
    }
    return null;
  }

  #inArray(schema: JsonMap): Step | null {
    const least = Number(schema.minItems ?? 0);
    const prefix = listOf(schema.prefixItems);
    for (const [i, part] of prefix.slice(0, least).entries())
      if (!this.has(part)) return { steps: ['prefixItems', i], schema: part };
    if (least <= prefix.length || this.has(schema.items)) return null;
    return { steps: ['items'], schema: schema.items! };
  }
}

interface Step {
  readonly steps: readonly (string | number)[];
  readonly schema: JsonValue;
}

const PARTS = new Set(['items', 'additionalProperties']);
const PART_LISTS = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf']);

/** Without `type` a schema allows a number, which is finite. */
function typesOf({ type }: JsonMap): readonly JsonValue[] {
  return type === undefined ? ['number'] : isList(type) ? type : [type];
}

function toName(reference: string): string {
  return reference.slice('#/$defs/'.length);
}

function toReference(name: string): string {
  return `#/$defs/${name}`;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isList(value) ? value : [];
}
