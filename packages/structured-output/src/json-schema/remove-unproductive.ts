// Parts of a schema that only an endless value satisfies: an object whose required property is such an object again.
// They become `false`, so that no answer walks into one; where that is all there is, the schema is refused with its place.

import { emptyMap, isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';
import { pointer, refuse } from '../refuse.ts';

/** A normalised schema in which nothing refers to what has no end. Throws: `invalid_constraint` when the whole has none. */
export function removeEndless(root: JsonValue): JsonValue {
  if (!isMap(root) || !isMap(root.$defs)) return root;
  const endings = new Endings(root.$defs);
  if (endings.isComplete) return root;
  if (!endings.has(root))
    refuse(
      endings.whyNot(root, '#'),
      'Nothing satisfies the schema: what is required here contains itself without an end',
    );
  const { $defs: definitions, ...rest } = root;
  const left = emptyMap<JsonValue>();
  for (const [name, schema] of Object.entries(definitions as JsonMap))
    if (endings.has({ $ref: toReference(name) })) left[name] = endings.prune(schema);
  return { ...(endings.prune(rest) as JsonMap), $defs: left };
}

/** Which definitions have a value that ends. `false` counts as ending: the compiler knows it. */
class Endings {
  readonly #definitions: JsonMap;
  readonly #ending = new Set<string>();

  constructor(definitions: JsonMap) {
    this.#definitions = definitions;
    // Definitions mostly refer to later ones, so few rounds are enough from the back.
    const open = Object.entries(definitions).reverse();
    let before = -1;
    while (before !== this.#ending.size) {
      before = this.#ending.size;
      for (const [name, schema] of open)
        if (!this.#ending.has(name) && this.has(schema)) this.#ending.add(name);
    }
  }

  get isComplete(): boolean {
    return this.#ending.size === Object.keys(this.#definitions).length;
  }

  /** False only when every value of the schema contains itself. */
  has(schema: JsonValue | undefined): boolean {
    return this.#firstEndless(schema) === null;
  }

  /** Where a schema without an end first refers to what contains itself. */
  whyNot(schema: JsonValue, place: string): string {
    const seen = new Map<string, string>();
    for (let at = schema, here = place; ; ) {
      const step = this.#firstEndless(at);
      if (step === null) return here;
      here = pointer(here, ...step.steps);
      at = step.schema;
      if (!isMap(at) || typeof at.$ref !== 'string') continue;
      const name = toName(at.$ref);
      const first = seen.get(name);
      if (first !== undefined) return first;
      seen.set(name, pointer(here, '$ref'));
    }
  }

  /** The schema with `false` for each part that has no end. Itself it has one. */
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

  /** The first part that keeps every value of a schema from its end, and the way there; null when one has an end. */
  #firstEndless(schema: JsonValue | undefined): Step | null {
    if (!isMap(schema)) return null;
    const reference = typeof schema.$ref === 'string' ? toName(schema.$ref) : null;
    if (reference !== null && !this.#ending.has(reference))
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

/** Without `type` a schema allows a number, which has an end. */
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
