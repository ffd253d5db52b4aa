// A JSON Schema -> the subset that llguidance compiles. What it takes in some combinations only, and says so, is left to the final
// check; definitions without values are taken out.

import { type JsonValue, printJson } from '@ortler/json';
import { GrammarRefused, MatcherFailed } from '../constraint.ts';
import { type CompileOptions, compiles } from '../dry-run/dry-run.ts';
import { larkLiteral, larkRegex } from '../lark/write-lark.ts';
import { withStyle } from './json-style.ts';
import type { NormaliseOptions } from './keyword-normaliser.ts';
import { type NormalisedSchema, normaliseSchema } from './normalise-schema.ts';
import { removeUnproductive } from './remove-unproductive.ts';

type Omissions = Pick<NormaliseOptions, 'omitsPatterns' | 'omitsBesideReferences' | 'omitsCounts'>;

/** Why llguidance refuses combinations of keywords: each is left out, and the schema compiled again. */
const OMISSIONS: readonly (readonly [RegExp, keyof Omissions])[] = [
  [/not disjoint/, 'omitsPatterns'],
  [/circular references with sibling keys/, 'omitsBesideReferences'],
  [/min\/maxProperties only supported/, 'omitsCounts'],
];
/** Schemas without these are compiled once, by the caller. */
const MAY_BE_REFUSED = /"(?:\$ref|patternProperties|minProperties|maxProperties)":/;

/** Throws: `invalid_constraint` naming the place of what is malformed, too large, or has no values. */
export function normaliseCompilable(
  document: JsonValue,
  own: Pick<NormaliseOptions, 'closeObjects' | 'isLenient'>,
  options: CompileOptions,
): NormalisedSchema {
  const { limits, fitsMaskBudget } = options;
  const omitted: { -readonly [Name in keyof Omissions]?: true } = {};
  for (;;) {
    const normalised = normaliseSchema(document, {
      ...own,
      ...omitted,
      limits,
      fitsMaskBudget,
      isSatisfiable: schema =>
        !/^(?:Unsatisfiable schema|Nothing satisfies)/.test(refusalOf(schema, options)),
      matchesOthers: (pattern, texts) => matchesOthers(pattern, texts, options),
    });
    const { schema, reason } = withoutEmptyDefinitions(normalised.schema, options);
    const omission = OMISSIONS.find(([pattern]) => pattern.test(reason))?.[1];
    if (omission === undefined || omitted[omission] === true) return { ...normalised, schema };
    omitted[omission] = true;
  }
}

const EMPTY_DEFINITION =
  /^Unsatisfiable schema: (.{1,1000}).*\n\s*while processing json-schema:[^#]*#\/\$defs\/(\d+)\b/;

/**
 * llguidance compiles every definition that is referred to and fails on one without values, even where a value may do without
 * it. References to it become `false`, which llguidance leaves out there. `reason`: why it cannot compile the result.
 * Throws: `invalid_constraint` with the place of the definition when no value can do without it.
 */
function withoutEmptyDefinitions(
  normalised: JsonValue,
  options: CompileOptions,
): { readonly schema: JsonValue; readonly reason: string } {
  const empty = new Map<string, string>();
  for (let schema = normalised; ; schema = removeUnproductive(schema, empty)) {
    const reason = MAY_BE_REFUSED.test(printJson(schema)) ? refusalOf(schema, options) : '';
    const [, why, name] = EMPTY_DEFINITION.exec(reason) ?? [];
    if (why === undefined || name === undefined || empty.has(name)) return { schema, reason };
    empty.set(name, why);
  }
}

/** Why llguidance cannot compile a normalised schema, its `oneOf` read as `anyOf`; empty where it can. */
function refusalOf(schema: JsonValue, { tryCompile }: CompileOptions): string {
  const text = printJson(withStyle(schema, {}, { coercesOneOf: true, extent: 'whole' }));
  try {
    tryCompile({ kind: 'json_schema', text });
    return '';
  } catch (error) {
    if (error instanceof GrammarRefused) return error.message;
    // Masks that fail are reported where the grammar is compiled for good.
    if (error instanceof MatcherFailed) return '';
    throw error;
  }
}

function matchesOthers(pattern: string, texts: readonly string[], options: CompileOptions): boolean {
  const others = `${larkRegex(pattern.slice(1, -1))} & ~(${texts.map(larkLiteral).join(' | ')})`;
  return compiles({ kind: 'lark', text: `start: OTHER\nOTHER: ${others}` }, options);
}
