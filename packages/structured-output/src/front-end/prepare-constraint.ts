// The front end: a constraint -> a grammar that llguidance compiles, and the schema left to check at the end.
// It runs callers' patterns and compiles callers' grammars, so it runs in a worker that can be killed.

import { compileConstraint } from './compile-constraint.ts';
import type { CompileOptions } from '../dry-run/dry-run.ts';
import type { PreparedConstraint } from '../constraint.ts';
import type { ConstraintSpec } from '../constraint-spec.ts';
import { readConstraint } from './read-constraint.ts';

/** Throws: `invalid_constraint` saying what is wrong with the constraint, and where. */
export function prepareConstraint(spec: ConstraintSpec, options: CompileOptions): PreparedConstraint {
  return compileConstraint(readConstraint(spec, options.limits), options);
}
