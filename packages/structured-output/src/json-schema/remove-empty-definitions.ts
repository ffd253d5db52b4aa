// Definitions that no value satisfies, such as bounds that contradict each other. llguidance compiles every definition that is
// referred to and fails on such a one, even where a value may do without it. References to it become `false`, which llguidance
// leaves out wherever a value may do without it.

import { isMap, type JsonValue, printJson } from '@ortler/json';
import { GrammarRefused, MatcherFailed } from '../constraint.ts';
import type { CompileOptions } from '../dry-run/dry-run.ts';
import { withStyle } from './json-style.ts';
import type { NormalisedSchema } from './normalise-schema.ts';
import { removeUnproductive } from './remove-unproductive.ts';

/** Throws: `invalid_constraint` with the place of the definition when no value can do without it. */
export function removeEmptyDefinitions(
  normalised: NormalisedSchema,
  options: CompileOptions,
): NormalisedSchema {
  const empty = new Map<string, string>();
  for (let { schema } = normalised; ; ) {
    const found = findEmptyDefinition(schema, options);
    if (found === null || empty.has(found.name)) return { ...normalised, schema };
    empty.set(found.name, found.reason);
    schema = removeUnproductive(schema, empty);
  }
}

const EMPTY_DEFINITION =
  /^Unsatisfiable schema: (.{1,1000}).*\n\s*while processing json-schema:[^#]*#\/\$defs\/(\d+)\b/;

interface EmptyDefinition {
  readonly name: string;
  readonly reason: string;
}

/** llguidance compiles one definition after the other, and names the one that has no values. */
function findEmptyDefinition(schema: JsonValue, { tryCompile }: CompileOptions): EmptyDefinition | null {
  if (!isMap(schema) || schema.$defs === undefined) return null;
  try {
    tryCompile({
      kind: 'json_schema',
      text: printJson(withStyle(schema, {}, { coercesOneOf: true, extent: 'whole' })),
    });
    return null;
  } catch (error) {
    // Other faults are reported where the grammar is compiled for good.
    if (error instanceof MatcherFailed) return null;
    if (!(error instanceof GrammarRefused)) throw error;
    const found = EMPTY_DEFINITION.exec(error.message);
    return found === null ? null : { name: found[2]!, reason: found[1]! };
  }
}
