// A JSON Schema -> the grammar of llguidance that comes nearest to it, and whether a finished text must still be checked.

import { type JsonValue, printJson } from '@ortler/json';
import { type CompileOptions, compileOnTrial, compiles } from '../dry-run/dry-run.ts';
import { type Grammar, GrammarRefused, type PreparedConstraint } from '../constraint.ts';
import type { JsonStyle } from '../constraint-spec.ts';
import { boundsWhitespace, withStyle } from './json-style.ts';
import { refuse } from '../refuse.ts';
import { type NormalisedSchema, normaliseSchema } from './normalise-schema.ts';
import { refuseUnenforced } from './refuse-unenforced.ts';

export interface SchemaSource {
  readonly document: JsonValue;
  /** Refuses what the grammar cannot enforce, instead of leaving it to a check. */
  readonly isStrict: boolean;
  readonly style: JsonStyle;
}

/** Throws: `invalid_constraint` naming the place of what is malformed, or not enforced where it must be. */
export function compileSchema(source: SchemaSource, options: CompileOptions): PreparedConstraint {
  const { document, isStrict } = source;
  const normalised = normaliseDisjoint(source, options);
  if (isStrict) refuseUnenforced(normalised);
  const { grammar, isExact } = compileOneOfs(normalised, source, options);
  const saysAll = isExact && normalised.unenforced.length === 0 && !normalised.isApproximate;
  return { grammar, check: saysAll ? null : printJson(document) };
}

/** llguidance compiles several `patternProperties` only where no name matches two of them; others are left to the check. */
function normaliseDisjoint({ document, style }: SchemaSource, options: CompileOptions): NormalisedSchema {
  const { limits, canFollow } = options;
  const normaliseOptions = { closeObjects: style.closeObjects ?? false, limits, canFollow };
  const whole = normaliseSchema(document, normaliseOptions);
  return hasOverlappingPatterns(whole, options)
    ? normaliseSchema(document, { ...normaliseOptions, leavesOutPatterns: true })
    : whole;
}

function hasOverlappingPatterns({ schema }: NormalisedSchema, { tryCompile }: CompileOptions): boolean {
  const text = printJson(withStyle(schema, {}, { coercesOneOf: true, extent: 'whole' }));
  if (!text.includes('"patternProperties":')) return false;
  try {
    tryCompile({ kind: 'json_schema', text });
    return false;
  } catch (error) {
    return error instanceof GrammarRefused && error.message.includes('not disjoint');
  }
}

/** `oneOf` as it is where llguidance proves its branches apart; otherwise as `anyOf`, which is then to be checked. */
function compileOneOfs(
  { schema, oneOfs }: NormalisedSchema,
  { style, isStrict }: SchemaSource,
  options: CompileOptions,
): { readonly grammar: Grammar; readonly isExact: boolean } {
  const write = (coercesOneOf: boolean): Grammar => ({
    kind: 'json_schema',
    text: printJson(withStyle(schema, style, { coercesOneOf, extent: 'whole' })),
    ...(boundsWhitespace(style, 'whole') && { boundsWhitespace: true }),
  });
  const exact = write(false);
  const [first] = oneOfs;
  if (first === undefined) return { grammar: compileOnTrial(exact, options).grammar, isExact: true };
  if (compiles(exact, options)) return { grammar: exact, isExact: true };
  const coerced = compileOnTrial(write(true), options);
  if (isStrict)
    refuse(
      first.place,
      'oneOf is enforced only where no value fits two of its schemas, which is not certain here; use anyOf',
    );
  return { grammar: coerced.grammar, isExact: false };
}
