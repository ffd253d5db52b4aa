// Dry run: every grammar is compiled once, on a vocabulary of single bytes, before it is used. A grammar that llguidance
// rejects becomes an `invalid_constraint` error with llguidance's message.

import { type Grammar, GrammarRefused, MatcherFailed, type PreparedConstraint } from '../constraint.ts';
import type { ConstraintLimits } from '../constraint-spec.ts';
import { refuse } from '../refuse.ts';
import type { SpecialToken } from '../token-vocabulary.ts';

/** Dependencies of the compilation of a constraint. */
export interface CompileOptions {
  readonly limits: ConstraintLimits;
  readonly specialTokens: readonly SpecialToken[];
  /** Compiles a grammar and drops the result. Throws: `GrammarRefused`, `MatcherFailed`. */
  readonly tryCompile: (grammar: Grammar) => void;
  /** False when a mask exceeds its budget after a short text already. Throws: `GrammarRefused`. */
  readonly fitsMaskBudget: (grammar: Grammar) => boolean;
}

/** The grammar as a constraint without a final check. Throws: `invalid_constraint` with the reason llguidance gives. */
export function dryRun(grammar: Grammar, { tryCompile }: CompileOptions, place = ''): PreparedConstraint {
  try {
    tryCompile(grammar);
  } catch (error) {
    refuseUncompiled(error, place);
  }
  return { grammar, check: null };
}

/** Whether llguidance compiles the grammar. Throws: `invalid_constraint` when its instance died. */
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
  const [, maxWays] = /Current row has \d+ items; max is (\d+)/.exec(error.message) ?? [];
  if (maxWays !== undefined)
    refuse(place, `The constraint can go on in more than ${maxWays} ways at one place`);
  const message = error.message.replaceAll('<non-verbose/>', '').trim().slice(0, 1000).replace(/\.$/, '');
  refuse(place, `The constraint cannot be compiled: ${message}`);
}
