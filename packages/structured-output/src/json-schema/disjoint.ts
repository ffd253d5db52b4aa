// Whether a proof is found that no value fits two schemas: by their types, values, bounds of numbers, or a property that one of
// them requires, as the discriminator of a union. `oneOf` of such schemas is `anyOf`.

import { emptyMap, equalJson, isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string'];
/** Pairs of schemas that one `oneOf` may compare; a discriminator takes three for each pair of branches. */
const PAIR_LIMIT = 20_000;
const DEPTH_LIMIT = 16;

/**
 * The schema with `anyOf` in place of each `oneOf` that has a proof, and the branches of these. `oneOfs`: the branches of all.
 * `definitions`: what references of the normalised schema stand for.
 */
export function provenOneOfs(
  schema: JsonValue,
  oneOfs: Iterable<JsonValue>,
  definitions: JsonMap,
): { readonly schema: JsonValue; readonly oneOfs: ReadonlySet<JsonValue> } {
  const proven = new Set(
    [...oneOfs].filter(branches => arePairwiseDisjoint(branches as readonly JsonValue[], definitions)),
  );
  return { schema: proven.size === 0 ? schema : rewrite(schema, proven), oneOfs: proven };
}

function rewrite(value: JsonValue, proven: ReadonlySet<JsonValue>): JsonValue {
  if (isList(value)) return value.map(part => rewrite(part, proven));
  if (!isMap(value)) return value;
  const also: JsonValue[] = [];
  const copy = emptyMap<JsonValue>();
  for (const [key, part] of Object.entries(value)) {
    const isProven = key === 'oneOf' && proven.has(part);
    const written = rewrite(part, proven);
    if (!isProven) copy[key] = written;
    else if (value.anyOf === undefined) copy.anyOf = written;
    else also.push({ anyOf: written });
  }
  if (also.length > 0) copy.allOf = [...((copy.allOf ?? []) as readonly JsonValue[]), ...also];
  return copy;
}

/** Every two of the schemas are. */
export function arePairwiseDisjoint(schemas: readonly JsonValue[], definitions: JsonMap): boolean {
  const prover = new DisjointProver(definitions);
  return schemas.every((a, i) => schemas.slice(i + 1).every(b => prover.areDisjoint(a, b, 0)));
}

class DisjointProver {
  readonly #definitions: JsonMap;
  #pairCount = 0;

  constructor(definitions: JsonMap) {
    this.#definitions = definitions;
  }

  areDisjoint(a: JsonValue, b: JsonValue, depth: number): boolean {
    if (a === false || b === false) return true;
    if (!isMap(a) || !isMap(b) || depth > DEPTH_LIMIT || ++this.#pairCount > PAIR_LIMIT) return false;
    return (
      this.#isApart(a, b, depth + 1) || this.#isApart(b, a, depth + 1) || this.#areApart(a, b, depth + 1)
    );
  }

  /** By a part of `a` that holds together with the rest of it, or by all of its alternatives. */
  #isApart(a: JsonMap, b: JsonMap, depth: number): boolean {
    const name = typeof a.$ref === 'string' ? a.$ref.slice('#/$defs/'.length) : null;
    if (name !== null && this.areDisjoint(this.#definitions[name] ?? true, b, depth)) return true;
    if (isList(a.allOf) && a.allOf.some(part => this.areDisjoint(part, b, depth))) return true;
    return [a.anyOf, a.oneOf].some(
      branches => isList(branches) && branches.every(branch => this.areDisjoint(branch, b, depth)),
    );
  }

  #areApart(a: JsonMap, b: JsonMap, depth: number): boolean {
    const [ofA, ofB] = [valuesOf(a), valuesOf(b)];
    if (ofA !== null && ofB !== null) return !ofA.some(value => ofB.some(other => equalJson(value, other)));
    const types = typesOf(b);
    const shared = typesOf(a).filter(type => types.includes(type));
    return shared.every(
      type =>
        (type === 'object' && this.#areObjectsApart(a, b, depth)) ||
        (type === 'number' && (isBelow(a, b) || isBelow(b, a))),
    );
  }

  /** By a declared property that every object of one of them has. */
  #areObjectsApart(a: JsonMap, b: JsonMap, depth: number): boolean {
    const [ofA, ofB] = [propertiesOf(a), propertiesOf(b)];
    return [...namesRequired(a), ...namesRequired(b)].some(
      name =>
        Object.hasOwn(ofA, name) &&
        Object.hasOwn(ofB, name) &&
        this.areDisjoint(ofA[name]!, ofB[name]!, depth),
    );
  }
}

/** The only values; null where there are others. */
function valuesOf({ const: value, enum: values }: JsonMap): readonly JsonValue[] | null {
  if (value !== undefined) return [value];
  return isList(values) ? values : null;
}

function typesOf(schema: JsonMap): readonly JsonValue[] {
  const values = valuesOf(schema);
  if (values !== null) return [...new Set(values.map(typeOf))];
  const { type = TYPES } = schema;
  return (isList(type) ? type : [type]).map(name => (name === 'integer' ? 'number' : name));
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** Every number of `a` is less than every number of `b`. */
function isBelow(a: JsonMap, b: JsonMap): boolean {
  const most = Math.min(Number(a.maximum ?? Infinity), Number(a.exclusiveMaximum ?? Infinity));
  const least = Math.max(Number(b.minimum ?? -Infinity), Number(b.exclusiveMinimum ?? -Infinity));
  if (most !== least) return most < least;
  return Number.isFinite(most) && (a.exclusiveMaximum === most || b.exclusiveMinimum === least);
}

function propertiesOf({ properties }: JsonMap): JsonMap {
  return isMap(properties) ? properties : {};
}

function namesRequired({ required }: JsonMap): readonly string[] {
  return (required ?? []) as readonly string[];
}
