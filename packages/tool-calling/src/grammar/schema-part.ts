// A part of a tool's schema on its way into a grammar.

import { isSchema, mergeSchema, SILENT_KEYWORDS } from '../merged-schema.ts';
import type { ToolSchema } from '../tool-dialect.ts';
import type { ValueType } from '../value-kinds.ts';
import { ToolGrammarError } from './tool-grammar-error.ts';

export interface SchemaPart {
  readonly schema: unknown;
  /** The whole schema of the arguments, which references lead into. */
  readonly root: ToolSchema;
  readonly place: string;
  /** Keywords that cannot be enforced are refused. */
  readonly isStrict: boolean;
}

/**
 * The schema with references resolved and `allOf` merged; an empty one for `true`. Throws:
 * `ToolGrammarError`.
 */
export function openSchema({ schema, root, place, isStrict }: SchemaPart): ToolSchema {
  if (schema === true || schema === undefined) return {};
  if (schema === false) throw new ToolGrammarError(place, NOTHING_FITS);
  const merged = mergeSchema(schema, root);
  if (merged === null)
    throw new ToolGrammarError(
      place,
      'The schema, or one that it refers to, is not a schema or refers to itself',
    );
  if (isStrict && merged.conflict !== null)
    throw new ToolGrammarError(
      place,
      `The keyword ${merged.conflict} cannot be enforced where several parts of the schema say it differently`,
    );
  return merged.schema;
}

export const NOTHING_FITS = 'A schema that allows nothing cannot be written';

/** Keywords about values of one type, by the type. */
const KEYWORDS_OF: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains'],
  object: ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'].concat([
    'minProperties',
    'maxProperties',
    'dependentRequired',
    'dependentSchemas',
  ]),
};

/** The schema without keywords about values of other types. */
export function onlyAbout(type: ValueType, schema: ToolSchema): ToolSchema {
  const own = type === 'integer' ? 'number' : type;
  const others = new Set(
    Object.entries(KEYWORDS_OF).flatMap(([name, keywords]) => (name === own ? [] : keywords)),
  );
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !others.has(keyword)));
}

/** Bounds of the length of a string; undefined without any. */
export function lengthOf({
  minLength,
  maxLength,
}: {
  readonly minLength?: number;
  readonly maxLength?: number;
}) {
  if (minLength === undefined && maxLength === undefined) return undefined;
  return { min: minLength ?? 0, max: maxLength ?? null };
}

/** Throws: `ToolGrammarError` for a keyword of a strict schema that is not among `enforced`. */
export function checkKeywords(part: SchemaPart, schema: ToolSchema, enforced: readonly string[]): void {
  if (!part.isStrict) return;
  const other = Object.keys(schema).find(key => !enforced.includes(key) && !SILENT_KEYWORDS.has(key));
  if (other !== undefined)
    throw new ToolGrammarError(
      part.place,
      `The keyword ${other} cannot be enforced in the calls of this model`,
    );
}

/**
 * The alternatives of `anyOf` or `oneOf`, each with the keywords beside it; null where there are none. Throws:
 * `ToolGrammarError` for a strict `oneOf`, because a value may fit several of its schemas.
 */
export function branchesOf(part: SchemaPart, schema: ToolSchema): readonly SchemaPart[] | null {
  const { anyOf, oneOf, ...rest } = schema;
  const branches = anyOf ?? oneOf;
  if (!Array.isArray(branches)) return null;
  checkKeywords(part, oneOf === undefined ? {} : { oneOf }, []);
  const saysMore = Object.keys(rest).some(keyword => !SILENT_KEYWORDS.has(keyword));
  return branches.map((branch, index) => ({
    ...part,
    schema: saysMore ? { allOf: [rest, branch] } : branch,
    place: `${part.place}/anyOf/${index}`,
  }));
}

export interface Property {
  readonly name: string;
  readonly isRequired: boolean;
  readonly part: SchemaPart;
}

/** The named properties of an object, in their order. */
export function propertiesOf(part: SchemaPart, schema: ToolSchema): readonly Property[] {
  const { properties = {}, required = [] } = schema;
  if (!isSchema(properties))
    throw new ToolGrammarError(`${part.place}/properties`, 'properties must be an object');
  const names = new Set(Array.isArray(required) ? required : []);
  const unknown = [...names].find(name => !Object.hasOwn(properties, String(name)));
  if (unknown !== undefined)
    throw new ToolGrammarError(`${part.place}/required`, `The required property ${unknown} has no schema`);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    isRequired: names.has(name),
    part: { ...part, schema: property, place: `${part.place}/properties/${name}` },
  }));
}

/**
 * The schema of properties that an object does not name; only where it names none and is not closed. An
 * object that declares that it has no properties is closed unless it says otherwise.
 */
export function otherProperties(part: SchemaPart, schema: ToolSchema): SchemaPart | null {
  const { properties, additionalProperties } = schema;
  const isNaming = isSchema(properties) && Object.keys(properties).length > 0;
  const isOpen = additionalProperties ?? properties === undefined;
  if (isNaming || isOpen === false) return null;
  const inner = isSchema(additionalProperties) ? additionalProperties : {};
  return { ...part, schema: inner, place: `${part.place}/additionalProperties` };
}

/** The part as a schema of its own, with everything that it may refer to. Throws: `ToolGrammarError`. */
export function standAlone({ schema, root, place }: SchemaPart): unknown {
  if (!isSchema(schema) || referencesIn(schema).length === 0) return schema;
  const { outside, isWhole, definitions } = sharedDefinitionsOf(root);
  if (outside !== undefined)
    throw new ToolGrammarError(place, `The reference ${outside} must lead to a place in the schema`);
  return { ...definitions, ...((isWhole ? withMovedReferences(schema) : schema) as ToolSchema) };
}

/** Definitions that a part of a schema needs beside it, because it refers to them. */
interface SharedDefinitions {
  /** A reference that leads out of the schema. */
  readonly outside: string | undefined;
  /** Some reference leads to another place of the schema than a definition. */
  readonly isWhole: boolean;
  readonly definitions: ToolSchema;
}

/** By the whole schema, because a schema may have thousands of parts. */
const SHARED_DEFINITIONS = new WeakMap<ToolSchema, SharedDefinitions>();

function sharedDefinitionsOf(root: ToolSchema): SharedDefinitions {
  const known = SHARED_DEFINITIONS.get(root);
  if (known !== undefined) return known;
  const references = referencesIn(root);
  const { $defs, definitions, ...rest } = root;
  const isWhole = references.some(reference => !DEFINITION.test(reference));
  const all = isWhole ? { ...(isSchema($defs) && $defs), [WHOLE]: rest } : $defs;
  const move = (part: unknown) => (isWhole ? withMovedReferences(part) : part);
  const shared = {
    outside: references.find(reference => !/^#(?:\/|$)/.test(reference)),
    isWhole,
    definitions: {
      ...(all !== undefined && { $defs: move(all) }),
      ...(definitions !== undefined && { definitions: move(definitions) }),
    },
  };
  SHARED_DEFINITIONS.set(root, shared);
  return shared;
}

/** Name of the definition that holds the whole schema of the arguments, where something refers to it. */
const WHOLE = 'whole arguments';
const DEFINITION = /^#\/(?:\$defs|definitions)\//;

function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

/** The value with references into the whole schema, which has moved. */
function withMovedReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMovedReferences);
  if (!isSchema(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isMoved = key === '$ref' && typeof inner === 'string' && !DEFINITION.test(inner);
      const place = `#/$defs/${encodeURIComponent(WHOLE)}`;
      return [key, isMoved ? place + inner.slice(1) : withMovedReferences(inner)];
    }),
  );
}
