// The front end: a constraint -> a grammar for llguidance, and the schema that a finished text is still checked against.
// It compiles patterns and grammars of callers, so it runs in a worker thread that can be killed.

import type { Grammar, PreparedConstraint } from '../constraint.ts';
import type { ConstraintLimits, ConstraintSpec } from '../constraint-spec.ts';
import { type CompileOptions, dryRun } from '../dry-run/dry-run.ts';
import { ebnfToLark } from '../ebnf/ebnf-to-lark.ts';
import { compileSchema } from '../json-schema/compile-schema.ts';
import { checkLark } from '../lark/check-lark.ts';
import { larkLiteral } from '../lark/write-lark.ts';
import { refuse } from '../refuse.ts';
import { checkMaskCost, checkRegex } from '../regex/check-regex.ts';
import { compileTag } from '../structural-tag/compile-tag.ts';
import { type ConstraintSource, readConstraint } from './read-constraint.ts';

/** Throws: `invalid_constraint` with the fault of the constraint and its place. */
export function prepareConstraint(spec: ConstraintSpec, options: CompileOptions): PreparedConstraint {
  return compileConstraint(readConstraint(spec, options.limits), options);
}

function compileConstraint(source: ConstraintSource, options: CompileOptions): PreparedConstraint {
  const { limits } = options;
  switch (source.kind) {
    case 'json':
      return compileSchema(source, options);
    case 'regex': {
      const { pattern } = source;
      const grammar: Grammar = { kind: 'regex', text: checkRegex(pattern, 'regex', limits) };
      return compileAffordable(pattern, grammar, 'regex', options);
    }
    case 'choice':
      return dryRun({ kind: 'lark', text: choiceToLark(source.choices, limits) }, options);
    case 'ebnf':
    case 'lark': {
      const { kind, text } = source;
      const lark = kind === 'ebnf' ? ebnfToLark(text, limits) : checkLark(text, limits);
      return compileAffordable(text, { kind: 'lark', text: lark }, 'grammar', options);
    }
    case 'tag':
      return compileTag(source, options);
  }
}

/** A dry run, then the mask cost. `written`: the caller's text, from which `grammar` was made. */
function compileAffordable(
  written: string,
  grammar: Grammar,
  place: string,
  options: CompileOptions,
): PreparedConstraint {
  const prepared = dryRun(grammar, options, place);
  checkMaskCost(written, grammar, place, options.fitsMaskBudget);
  return prepared;
}

/**
 * Alternatives of literals in one terminal, because the parser follows at most 2,000 terminals at once;
 * duplicates are dropped. Throws: `invalid_constraint` for no text, or too many.
 */
function choiceToLark(choices: readonly string[], limits: ConstraintLimits): string {
  if (choices.length === 0) refuse('choice', 'A choice needs at least one text');
  if (choices.length > limits.valueCount)
    refuse('choice', `A choice may have ${limits.valueCount} texts at most`);
  return `start: CHOICE\nCHOICE: ${[...new Set(choices)].map(larkLiteral).join(' | ')}`;
}
