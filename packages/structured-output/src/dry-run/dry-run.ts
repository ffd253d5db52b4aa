// Every grammar of a request is compiled on trial before it is handed on: what the grammar engine says against it becomes a
// refusal of the request.

import { type Grammar, GrammarRefused, MatcherFailed, type PreparedConstraint } from '../constraint.ts';
import type { ConstraintLimits } from '../constraint-spec.ts';
import { refuse } from '../refuse.ts';
import type { SpecialToken } from '../token-vocabulary.ts';

/** What the translation of a constraint needs besides it. */
export interface CompileOptions {
  readonly limits: ConstraintLimits;
  readonly specialTokens: readonly SpecialToken[];
  /** Compiles for trial. Throws: `GrammarRefused`, `MatcherFailed`. */
  readonly tryCompile: (grammar: Grammar) => void;
  /** False when short texts already lead to a mask that costs too much. Throws: `GrammarRefused`. */
  readonly canFollow: (grammar: Grammar) => boolean;
}

/** The grammar as a constraint that leaves nothing to check. Throws: `invalid_constraint` saying why it cannot be compiled. */
export function compileOnTrial(
  grammar: Grammar,
  { tryCompile }: CompileOptions,
  place = '',
): PreparedConstraint {
  try {
    tryCompile(grammar);
  } catch (error) {
    refuseUncompiled(error, place);
  }
  return { grammar, check: null };
}

/** Whether the grammar engine takes the grammar. Throws: `invalid_constraint` when it broke of it. */
export function compiles(grammar: Grammar, { tryCompile }: CompileOptions): boolean {
  try {
    tryCompile(grammar);
    return true;
  } catch (error) {
    if (error instanceof GrammarRefused) return false;
    refuseUncompiled(error, '');
  }
}

function refuseUncompiled(error: unknown, place: string): never {
  if (!(error instanceof GrammarRefused) && !(error instanceof MatcherFailed)) throw error;
  const message = error.message.replaceAll('<non-verbose/>', '').trim().slice(0, 1000).replace(/\.$/, '');
  refuse(place, `The constraint cannot be compiled: ${message}`);
}
