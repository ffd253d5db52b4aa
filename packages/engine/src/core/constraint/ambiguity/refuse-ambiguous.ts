// Refuses patterns that would keep a checker of the answer busy for ever. Called by prepare-constraint.ts where the operator
// wants that.

import type { ConstraintLimits } from '../../../request/constraint-spec.ts';
import { isList, isMap, type JsonValue } from '../json-schema/json-value.ts';
import { DATA_KEYWORDS } from '../json-schema/resolve-ref.ts';
import { pointer, refuse } from '../refuse.ts';
import { type AmbiguityOptions, findAmbiguity } from './find-ambiguity.ts';
import { type RegexNotation, UnreadableRegex } from './regex-node.ts';
import { PatternTooLarge } from './work-budget.ts';

const WAY_OUT = 'or have the operator set ambiguous-patterns to serve';
/** Characters of the repeated part that a message quotes. */
const QUOTE_LENGTH = 80;

/**
 * Throws: `invalid_request` naming the repeated part, or saying that the pattern is too large to be judged. What cannot be
 * read is left to whoever compiles it.
 */
export function refuseAmbiguous(
  pattern: string,
  place: string,
  notation: RegexNotation,
  extent: AmbiguityOptions['extent'],
): void {
  const part = judge(pattern, place, { notation, extent });
  if (part === null) return;
  const quoted = part.length > QUOTE_LENGTH ? `${part.slice(0, QUOTE_LENGTH)}...` : part;
  refuse(
    place,
    `The pattern repeats ${JSON.stringify(quoted)} in two ways over the same text, and a checker that backtracks would need exponential time; make the ways differ, ${WAY_OUT}`,
  );
}

/**
 * Every pattern of a schema, also where the grammar leaves it to the check at the end. `within` is the place of the schema.
 * Throws: `invalid_request`.
 */
export function refuseAmbiguousSchema(schema: JsonValue, limits: ConstraintLimits, within = '#'): void {
  if (isList(schema))
    for (const [i, item] of schema.entries()) refuseAmbiguousSchema(item, limits, pointer(within, i));
  if (!isMap(schema)) return;
  // Longer ones are refused where they are used.
  const look = (pattern: string, place: string): void => {
    if (Buffer.byteLength(pattern) <= limits.patternBytes) refuseAmbiguous(pattern, place, 'ecma', 'search');
  };
  const { pattern, patternProperties } = schema;
  if (typeof pattern === 'string') look(pattern, pointer(within, 'pattern'));
  if (isMap(patternProperties))
    for (const name of Object.keys(patternProperties)) look(name, pointer(within, 'patternProperties', name));
  for (const [key, item] of Object.entries(schema))
    if (!DATA_KEYWORDS.has(key)) refuseAmbiguousSchema(item, limits, pointer(within, key));
}

function judge(pattern: string, place: string, options: AmbiguityOptions): string | null {
  try {
    return findAmbiguity(pattern, options);
  } catch (error) {
    if (error instanceof UnreadableRegex) return null;
    if (!(error instanceof PatternTooLarge)) throw error;
    refuse(
      place,
      `The pattern has too many parts to tell whether a checker that backtracks can follow it; make it smaller, ${WAY_OUT}`,
    );
  }
}
