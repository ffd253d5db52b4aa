// Where the references of a JSON Schema point: pointers, anchors and ids inside the one document. Nothing is fetched.

import { isList, isMap, type JsonMap, type JsonValue } from '@ortler/json';
import { pointer, refuse } from '../refuse.ts';

/** A schema and the URI that relative references inside it start from. */
export interface Located {
  readonly schema: JsonValue;
  readonly base: string;
}

/** Stands for the document itself where it has no id; the scheme is one that nothing can fetch. */
const ROOT = 'schema://document/root';
/** Keywords whose values are data, not schemas: an `$id` inside them is none. */
export const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'examples']);

/** Dynamically scoped references: neither the grammar nor the final check resolves them. */
const DYNAMIC_KEYWORDS = ['$dynamicRef', '$recursiveRef'] as const;

export class SchemaReferences {
  readonly root: Located;
  readonly #byUri = new Map<string, Located>();

  constructor(document: JsonValue) {
    this.root = { schema: document, base: baseOf(document, ROOT) };
    this.#byUri.set(ROOT, this.root);
    this.#index(document, ROOT);
  }

  /** Base URI inside a schema that is entered with `base`. */
  enter(schema: JsonValue, base: string): string {
    return baseOf(schema, base);
  }

  /** Null when the document has no such place. */
  resolve(reference: string, base: string): Located | null {
    const uri = URL.parse(reference, base);
    if (uri === null) return null;
    const fragment = decodeFragment(uri.hash.slice(1));
    uri.hash = '';
    if (fragment === null) return null;
    if (fragment !== '' && !fragment.startsWith('/'))
      return this.#byUri.get(`${uri.href}#${fragment}`) ?? null;
    const resource = this.#byUri.get(uri.href);
    return resource === undefined ? null : walk(resource, fragment);
  }

  /** The schema that one stands for which says no more than a reference; every other one as it is. */
  follow(from: Located): Located {
    const seen = new Set<JsonValue>();
    let found = from;
    while (isOnlyReference(found.schema) && !seen.has(found.schema)) {
      seen.add(found.schema);
      const target = this.resolve(found.schema.$ref, found.base);
      if (target === null) break;
      found = target;
    }
    return found;
  }

  #index(value: JsonValue, base: string): void {
    if (isList(value)) for (const item of value) this.#index(item, base);
    if (!isMap(value)) return;
    const inner = baseOf(value, base);
    if (inner !== base || idOf(value) !== null) this.#add(withoutHash(inner), value, inner);
    for (const key of ['$anchor', '$dynamicAnchor', 'id', '$id']) {
      const anchor = value[key];
      if (typeof anchor !== 'string') continue;
      const name = key.endsWith('nchor') ? anchor : anchor.startsWith('#') ? anchor.slice(1) : '';
      if (name !== '') this.#add(`${withoutHash(inner)}#${name}`, value, inner);
    }
    for (const [key, item] of Object.entries(value)) if (!DATA_KEYWORDS.has(key)) this.#index(item, inner);
  }

  #add(uri: string, schema: JsonValue, base: string): void {
    if (!this.#byUri.has(uri)) this.#byUri.set(uri, { schema, base });
  }
}

/**
 * Searches the whole schema, because the final check also reads the parts that the grammar drops.
 * Throws: `invalid_constraint` at the first dynamically scoped reference.
 */
export function refuseDynamic(value: JsonValue, place: string): void {
  if (isList(value)) for (const [i, item] of value.entries()) refuseDynamic(item, pointer(place, i));
  if (!isMap(value)) return;
  for (const keyword of DYNAMIC_KEYWORDS)
    if (typeof value[keyword] === 'string')
      refuse(pointer(place, keyword), `${keyword} is not supported; use $ref`);
  for (const [key, item] of Object.entries(value))
    if (!DATA_KEYWORDS.has(key)) refuseDynamic(item, pointer(place, key));
}

const NAMING_KEYWORDS = new Set(['$ref', 'title', 'description']);

function isOnlyReference(schema: JsonValue): schema is JsonMap & { readonly $ref: string } {
  if (!isMap(schema) || typeof schema.$ref !== 'string') return false;
  return Object.keys(schema).every(keyword => NAMING_KEYWORDS.has(keyword));
}

/** Follows a JSON pointer, taking over the ids on its way. */
function walk(from: Located, path: string): Located | null {
  let { schema, base } = from;
  for (const step of path.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!(isMap(schema) || isList(schema)) || !Object.hasOwn(schema, key)) return null;
    schema = (schema as JsonMap)[key]!;
    base = baseOf(schema, base);
  }
  return { schema, base };
}

function baseOf(schema: JsonValue, base: string): string {
  const id = isMap(schema) ? idOf(schema) : null;
  if (id === null) return base;
  return withoutHash(URL.parse(id, base)?.href ?? base);
}

/** The id that names a resource; one that is only a fragment is an anchor (drafts up to 7). */
function idOf(schema: JsonMap): string | null {
  const id = schema.$id ?? schema.id;
  return typeof id === 'string' && !id.startsWith('#') ? id : null;
}

function withoutHash(uri: string): string {
  const at = uri.indexOf('#');
  return at === -1 ? uri : uri.slice(0, at);
}

function decodeFragment(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}
