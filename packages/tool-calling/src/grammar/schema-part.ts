// A part of a tool's schema on its way into a grammar.

import type { ToolSchema } from '../tool-dialect.ts';
import { followReferences, isSchema } from '../value-kinds.ts';
import { ToolGrammarError } from './tool-grammar-error.ts';

export interface SchemaPart {
  readonly schema: unknown;
  /** The whole schema of the arguments, which references lead into. */
  readonly root: ToolSchema;
  readonly place: string;
  /** Keywords that cannot be enforced are refused. */
  readonly isStrict: boolean;
}

/** Keywords that say nothing of values, or where definitions are. */
const SILENT_KEYWORDS: ReadonlySet<string> = new Set([
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

/** The schema with references followed; an empty one for `true`. Throws: `ToolGrammarError`. */
export function openSchema({ schema, root, place }: SchemaPart): ToolSchema {
  if (schema === true || schema === undefined) return {};
  if (schema === false) throw new ToolGrammarError(place, 'A schema that allows nothing cannot be written');
  const found = isSchema(schema) ? followReferences(schema, root) : null;
  if (found === null)
    throw new ToolGrammarError(place, 'The schema, or the one that it refers to, is no schema');
  return found;
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

/** The part as a schema of its own, with everything that it may refer to. Throws: `ToolGrammarError`. */
export function standAlone({ schema, root, place }: SchemaPart): unknown {
  if (!isSchema(schema)) return schema;
  const references = referencesIn([schema, root]);
  const outside = references.find(reference => !/^#(?:\/|$)/.test(reference));
  if (outside !== undefined)
    throw new ToolGrammarError(place, `The reference ${outside} must lead to a place in the schema`);
  const { $defs, definitions, ...rest } = root;
  const isWhole = references.some(reference => !DEFINITION.test(reference));
  const all = isWhole ? { ...(isSchema($defs) && $defs), [WHOLE]: rest } : $defs;
  const move = (part: unknown) => (isWhole ? withMovedReferences(part) : part);
  return {
    ...(all !== undefined && { $defs: move(all) }),
    ...(definitions !== undefined && { definitions: move(definitions) }),
    ...(move(schema) as ToolSchema),
  };
}

/** Where a part has the whole schema of the arguments, if anything refers to it. */
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
