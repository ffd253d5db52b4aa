// A structural tag -> one Lark grammar. The schemas, patterns and grammars inside it must be enforced in full: a finished text
// cannot be checked, because only the grammar knows where in it they begin.

import { printJson } from '@ortler/json';
import type { Grammar, PreparedConstraint } from '../constraint.ts';
import type { JsonStyle } from '../constraint-spec.ts';
import { type CompileOptions, compiles, dryRun } from '../dry-run/dry-run.ts';
import { ebnfToRules } from '../ebnf/ebnf-to-lark.ts';
import { isEbnf } from '../ebnf/parse-ebnf.ts';
import { ConstraintError } from '../errors.ts';
import { refuseImpossible, refuseOneOf, refuseUnenforced } from '../json-schema/compile-schema.ts';
import { toJsonForm, withStyle } from '../json-schema/json-style.ts';
import { normaliseCompilable } from '../json-schema/normalise-compilable.ts';
import type { NormalisedSchema } from '../json-schema/normalise-schema.ts';
import { refuse } from '../refuse.ts';
import { checkMaskCost, checkRegex } from '../regex/check-regex.ts';
import type { TagNode } from '../tag-node.ts';
import { type TagLeaves, tagToLark } from './tag-to-lark.ts';
import { hasValues, tagToShape } from './tag-to-shape.ts';

export interface TagSource {
  readonly tag: TagNode;
  /** Style of the JSON inside the tag. */
  readonly style: JsonStyle;
}

/** A schema or a pattern inside a tag, as a grammar of its own. */
interface TagPart {
  readonly grammar: Grammar;
  readonly place: string;
}

/** Throws: `invalid_constraint` naming the place. */
export function compileTag({ tag, style }: TagSource, options: CompileOptions): PreparedConstraint {
  const parts: TagPart[] = [];
  const text = tagToLark(tag, options.specialTokens, createLeaves(style, options, parts));
  const shape = tagToShape(tag);
  const form = hasValues(shape) ? toJsonForm(style, { hasLongNumbers: false, shape }) : undefined;
  try {
    return dryRun({ kind: 'lark', text, ...(form !== undefined && { form }) }, options);
  } catch (error) {
    // llguidance blames a line of our own text; a part that fails alone is the caller's, at a place that the caller knows.
    for (const { grammar, place } of parts) dryRun(grammar, options, place);
    throw error;
  }
}

/** Mutates: appends to `parts`. */
function createLeaves(style: JsonStyle, options: CompileOptions, parts: TagPart[]): TagLeaves {
  const { limits, fitsMaskBudget } = options;
  return {
    toJson: ({ schema, place, isLenient = false }) => {
      const { closeObjects = false } = style;
      const normalised = within(place, () =>
        normaliseCompilable(schema, { closeObjects, isLenient }, options),
      );
      refuseImpossible(normalised, place);
      if (!isLenient) {
        refuseUnenforced(normalised, place);
        refuseUnproven(normalised, place, options);
      }
      const written = withStyle(normalised.schema, style, { coercesOneOf: isLenient, extent: 'part' });
      parts.push({ grammar: { kind: 'json_schema', text: printJson(written) }, place });
      return written;
    },
    toRegex: (pattern, place) => {
      const text = checkRegex(pattern, place, limits);
      const grammar: Grammar = { kind: 'regex', text };
      checkMaskCost(pattern, grammar, place, fitsMaskBudget);
      parts.push({ grammar, place });
      return text;
    },
    toRules: (grammar, prefix, place) => {
      if (!isEbnf(grammar)) refuse(place, 'A grammar inside a structural tag, or beside tools, must be EBNF');
      return within(place, () => ebnfToRules(grammar, limits, prefix));
    },
  };
}

/**
 * Throws: `invalid_constraint` for a `oneOf` where llguidance does not know that no value fits two of its
 * schemas.
 */
function refuseUnproven({ schema, oneOfs }: NormalisedSchema, place: string, options: CompileOptions): void {
  const [first] = oneOfs;
  if (first === undefined) return;
  const compilesAs = (coercesOneOf: boolean): boolean =>
    compiles(
      { kind: 'json_schema', text: printJson(withStyle(schema, {}, { coercesOneOf, extent: 'whole' })) },
      options,
    );
  // What cannot be compiled for another reason is refused with that reason, with the whole of the tag.
  if (!compilesAs(false) && compilesAs(true)) refuseOneOf(first, place);
}

/** Places in a schema or a grammar -> places in the constraint that it is a part of. */
function within<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    const message = error.message.replace(/\(at (?:#|grammar\b)/, () => `(at ${place}`);
    throw new ConstraintError(error.code, message, { cause: error });
  }
}
