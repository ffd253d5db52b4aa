// Components of the OpenAPI document: schemas that are written once, under a name, and referred to from everywhere else.

export type Json = { [key: string]: unknown };

/** A schema with a name of its own. */
export interface NamedSchema {
  readonly name: string;
  /** Ending of the name where another form of the schema has it: that of requests and of answers may differ. */
  readonly suffix: 'Input' | 'Output';
  readonly schema: Json;
}

/** Keywords that belong to the place of a schema, not to its type. */
const PLACE_KEYWORDS: ReadonlySet<string> = new Set([
  'default',
  'deprecated',
  'description',
  'example',
  'examples',
]);
const UNIONS = ['anyOf', 'oneOf'] as const;

/** Collects the components of one document. */
export class ComponentTable {
  readonly #known: ReadonlyMap<string, NamedSchema>;
  readonly #nameOfKey = new Map<string, string>();
  readonly #components = new Map<string, Json>();

  constructor(known: readonly NamedSchema[]) {
    // Of schemas that are equal, the first gives the name.
    this.#known = new Map(known.toReversed().map(named => [schemaKey(named.schema), named]));
  }

  /**
   * Refers to a component, which is added if it is new.
   * @param name Name of a schema that is not known. Objects inside it get names that begin with it.
   */
  refer(schema: Json, name: string): Json {
    const key = schemaKey(schema);
    const named = this.#nameOfKey.get(key) ?? this.#add(key, schema, name);
    const { description } = schema;
    const isOwn = description === undefined || description === this.#components.get(named)?.description;
    return { $ref: `#/components/schemas/${named}`, ...place(schema), ...(isOwn ? {} : { description }) };
  }

  /** All components, by name in alphabetical order. */
  toJson(): Json {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #add(key: string, schema: Json, fallback: string): string {
    const known = this.#known.get(key);
    const name = this.#freeName(known?.name ?? fallback, known?.suffix ?? '');
    this.#nameOfKey.set(key, name);
    this.#components.set(name, {});
    const { default: _, deprecated: __, ...own } = known?.schema ?? schema;
    this.#components.set(name, this.#withReferences(own, name));
    return name;
  }

  #freeName(name: string, suffix: string): string {
    const isTaken = (candidate: string) => this.#components.has(candidate);
    if (!isTaken(name)) return name;
    for (let number = 1; ; number++) {
      const candidate = `${name}${suffix}${number === 1 && suffix !== '' ? '' : number}`;
      if (!isTaken(candidate)) return candidate;
    }
  }

  /** The schema with references in the place of the objects inside it. */
  #withReferences(schema: Json, name: string): Json {
    const result: Json = { ...schema };
    const inside = (child: unknown, childName: string) => this.#inside(child, childName);
    if (isJson(schema.properties)) {
      const properties = Object.entries(schema.properties);
      result.properties = Object.fromEntries(
        properties.map(([key, child]) => [key, inside(child, name + pascalCase(key))]),
      );
    }
    for (const keyword of ['items', 'additionalProperties', 'contentSchema'])
      if (schema[keyword] !== undefined) result[keyword] = inside(schema[keyword], name);
    for (const keyword of UNIONS) {
      const members = schema[keyword];
      if (!Array.isArray(members)) continue;
      // One object in a nullable field needs no ending, unless the union itself has the name.
      const isOne = members.filter(isObjectSchema).length < 2 && !this.#components.has(name);
      result[keyword] = members.map((member, index) =>
        inside(member, isOne ? name : name + memberName(member, { index, union: name })),
      );
    }
    return result;
  }

  #inside(schema: unknown, name: string): unknown {
    if (!isJson(schema)) return schema;
    const isNamed = isObjectSchema(schema) || this.#known.has(schemaKey(schema));
    return isNamed ? this.refer(schema, name) : this.#withReferences(schema, name);
  }
}

/** Whether a type of this schema is worth a name: an object with properties. */
export function isObjectSchema(schema: unknown): boolean {
  return isJson(schema) && isJson(schema.properties) && Object.keys(schema.properties).length > 0;
}

/** `json_schema` and `createFeedback` as parts of a type's name: `JsonSchema`, `CreateFeedback`. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9]|$)/g, (_, letter: string) => letter.toUpperCase());
}

/** A member of a union by its `type`, without the words that the union begins with, or else by its number. */
function memberName(member: unknown, { index, union }: { index: number; union: string }): string {
  const properties = isJson(member) && isJson(member.properties) ? member.properties : {};
  const { type } = properties;
  if (!isJson(type) || typeof type.const !== 'string') return String(index + 1);
  const [first = ''] = /^[A-Z][a-z]*/.exec(union) ?? [];
  const name = pascalCase(type.const);
  return name.startsWith(first) && name !== first ? name.slice(first.length) : name;
}

function place({ default: value, deprecated }: Json): Json {
  return { ...(value !== undefined && { default: value }), ...(deprecated !== undefined && { deprecated }) };
}

/** Equal for schemas of the same type. */
function schemaKey(schema: Json): string {
  return keyOf(
    Object.fromEntries(Object.entries(schema).filter(([keyword]) => !PLACE_KEYWORDS.has(keyword))),
  );
}

function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isJson(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
