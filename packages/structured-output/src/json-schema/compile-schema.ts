// A JSON Schema -> the closest grammar of llguidance, and whether a finished text still has to be checked.

import { type JsonValue, printJson } from '@ortler/json';
import type { Grammar, PreparedConstraint } from '../constraint.ts';
import type { JsonStyle } from '../constraint-spec.ts';
import { type CompileOptions, compiles, dryRun } from '../dry-run/dry-run.ts';
import { refuse } from '../refuse.ts';
import { toJsonForm, withStyle } from './json-style.ts';
import { hasLongNumbers } from './long-numbers.ts';
import { normaliseCompilable } from './normalise-compilable.ts';
import type { NormalisedSchema, UnenforcedKeyword } from './normalise-schema.ts';

export interface SchemaSource {
  readonly document: JsonValue;
  /** Refuses what the grammar cannot enforce, instead of checking the finished text. */
  readonly isStrict: boolean;
  readonly style: JsonStyle;
}

/** Throws: `invalid_constraint` naming the place of what is malformed, or not enforced where it must be. */
export function compileSchema(source: SchemaSource, options: CompileOptions): PreparedConstraint {
  const { document, isStrict } = source;
  const closeObjects = source.style.closeObjects ?? isStrict;
  const normalised = normaliseCompilable(document, { closeObjects, isLenient: !isStrict }, options);
  refuseImpossible(normalised);
  if (isStrict) refuseUnenforced(normalised);
  const { grammar, isExact } = compileOneOfs(normalised, source, options);
  const isEnforced = isExact && normalised.unenforced.length === 0 && !normalised.isApproximate;
  return { grammar, check: isEnforced ? null : printJson(document) };
}

/** Throws: `invalid_constraint` for a schema that no value fits. `within`: its place in the caller's text. */
export function refuseImpossible({ schema }: NormalisedSchema, within = '#'): void {
  if (schema === false) refuse(within, 'Nothing satisfies the schema');
}

/** For grammars without a final check. `within`: the place of the schema in the caller's text. Throws: `invalid_constraint`. */
export function refuseUnenforced({ unenforced }: NormalisedSchema, within = '#'): void {
  const first = unenforced[0];
  if (first === undefined) return;
  const place = within + first.place.slice(1);
  refuse(place, `The keyword ${first.keyword} cannot be enforced while the text is generated`);
}

/** `within`: the place of the schema in the caller's text. Throws: `invalid_constraint`. */
export function refuseOneOf({ place }: UnenforcedKeyword, within = '#'): never {
  refuse(
    within + place.slice(1),
    'oneOf is enforced only where no value fits two of its schemas, which is not certain here; use anyOf',
  );
}

/** `oneOf` where llguidance proves its branches disjoint; otherwise `anyOf` with a check of the finished text. */
function compileOneOfs(
  { schema, oneOfs }: NormalisedSchema,
  { style, isStrict }: SchemaSource,
  options: CompileOptions,
): { readonly grammar: Grammar; readonly isExact: boolean } {
  const form = toJsonForm(style, { hasLongNumbers: hasLongNumbers(schema) });
  const write = (coercesOneOf: boolean): Grammar => ({
    kind: 'json_schema',
    text: printJson(withStyle(schema, style, { coercesOneOf, extent: 'whole' })),
    form,
  });
  const exact = write(false);
  const [first] = oneOfs;
  if (first === undefined) return { grammar: dryRun(exact, options).grammar, isExact: true };
  if (compiles(exact, options)) return { grammar: exact, isExact: true };
  const coerced = dryRun(write(true), options);
  if (isStrict) refuseOneOf(first);
  return { grammar: coerced.grammar, isExact: false };
}
