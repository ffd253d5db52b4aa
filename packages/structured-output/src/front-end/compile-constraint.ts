// Second stage of the front end: each kind of constraint -> a grammar that llguidance compiles, and what is left to check.

import { checkLark } from '../lark/check-lark.ts';
import { choiceToLark } from '../lark/choice-to-lark.ts';
import { type CompileOptions, compileOnTrial } from '../dry-run/dry-run.ts';
import type { Grammar, PreparedConstraint } from '../constraint.ts';
import { ebnfToLark } from '../ebnf/ebnf-to-lark.ts';
import { compileSchema } from '../json-schema/compile-schema.ts';
import type { ConstraintSource } from './read-constraint.ts';
import { checkFollowable, checkRegex } from '../regex/check-regex.ts';
import { compileTag } from '../structural-tag/compile-tag.ts';

/** Throws: `invalid_constraint` saying what is wrong with the constraint, and where. */
export function compileConstraint(source: ConstraintSource, options: CompileOptions): PreparedConstraint {
  const { limits } = options;
  switch (source.kind) {
    case 'json':
      return compileSchema(source, options);
    case 'regex': {
      const { pattern } = source;
      const grammar: Grammar = { kind: 'regex', text: checkRegex(pattern, 'regex', limits) };
      return compileFollowable(pattern, grammar, 'regex', options);
    }
    case 'choice':
      return compileOnTrial({ kind: 'lark', text: choiceToLark(source.choices, limits) }, options);
    case 'ebnf':
    case 'lark': {
      const { kind, text } = source;
      const lark = kind === 'ebnf' ? ebnfToLark(text, limits) : checkLark(text, limits);
      return compileFollowable(text, { kind: 'lark', text: lark }, 'grammar', options);
    }
    case 'tag':
      return compileTag(source, options);
  }
}

/** `written` is what the caller wrote. */
function compileFollowable(
  written: string,
  grammar: Grammar,
  place: string,
  options: CompileOptions,
): PreparedConstraint {
  const prepared = compileOnTrial(grammar, options, place);
  checkFollowable(written, grammar, place, options.canFollow);
  return prepared;
}
