// A structural tag -> one grammar. The schemas, patterns and grammars inside it must be enforced in full: nothing is left to
// a check, as only the grammar knows where in a text they begin.

import { type CompileOptions, compileOnTrial } from '../dry-run/dry-run.ts';
import type { PreparedConstraint } from '../constraint.ts';
import type { JsonStyle } from '../constraint-spec.ts';
import { ebnfToRules } from '../ebnf/ebnf-to-lark.ts';
import { isEbnf } from '../ebnf/is-ebnf.ts';
import { normaliseSchema } from '../json-schema/normalise-schema.ts';
import { refuseUnenforced } from '../json-schema/refuse-unenforced.ts';
import { withStyle } from '../json-schema/json-style.ts';
import { refuse } from '../refuse.ts';
import { checkFollowable, checkRegex } from '../regex/check-regex.ts';
import type { TagNode } from './tag-node.ts';
import { type TagLeaves, tagToLark } from './tag-to-lark.ts';

export interface TagSource {
  readonly tag: TagNode;
  /** Of the JSON inside the tag. */
  readonly style: JsonStyle;
}

/** Throws: `invalid_constraint` naming the place. */
export function compileTag({ tag, style }: TagSource, options: CompileOptions): PreparedConstraint {
  const text = tagToLark(tag, options.specialTokens, createLeaves(style, options));
  return compileOnTrial({ kind: 'lark', text }, options);
}

function createLeaves(style: JsonStyle, { limits, canFollow }: CompileOptions): TagLeaves {
  return {
    toJson: (schema, place) => {
      const { closeObjects = false } = style;
      const normalised = normaliseSchema(schema, { closeObjects, limits, canFollow });
      refuseUnenforced(normalised, place);
      return withStyle(normalised.schema, style, { coercesOneOf: false, extent: 'part' });
    },
    toRegex: (pattern, place) => {
      const text = checkRegex(pattern, place, limits);
      checkFollowable(pattern, { kind: 'regex', text }, place, canFollow);
      return text;
    },
    toRules: (grammar, prefix, place) => {
      if (!isEbnf(grammar)) refuse(place, 'A grammar inside a structural tag must be EBNF');
      return ebnfToRules(grammar, limits, prefix);
    },
  };
}
