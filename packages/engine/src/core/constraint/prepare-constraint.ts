// The front end: what a request asks for -> a grammar that llguidance compiles, and what is left to check at the end.
// It runs callers' patterns and compiles callers' grammars, so it runs in a worker that can be killed.

import type { AmbiguousPatterns, ConstraintSpec } from '../../request/constraint-spec.ts';
import { patternsIn } from './ambiguity/patterns-in.ts';
import { refuseAmbiguous } from './ambiguity/refuse-ambiguous.ts';
import { compileConstraint } from './compile-constraint.ts';
import type { CompileOptions } from './compile-on-trial.ts';
import type { PreparedConstraint } from './constraint.ts';
import { readConstraint } from './read-constraint.ts';

export interface FrontEndOptions extends CompileOptions {
  readonly ambiguousPatterns: AmbiguousPatterns;
}

/**
 * Reads, compiles, and then judges the patterns: of what cannot be compiled nobody needs to know how it would be checked.
 * Throws: `invalid_request` saying what is wrong with the constraint, and where.
 */
export function prepareConstraint(spec: ConstraintSpec, options: FrontEndOptions): PreparedConstraint {
  const { limits, ambiguousPatterns } = options;
  const source = readConstraint(spec, limits);
  const prepared = compileConstraint(source, options);
  if (ambiguousPatterns === 'refuse')
    for (const pattern of patternsIn(source, limits)) refuseAmbiguous(pattern);
  return prepared;
}
