// Compiles a grammar as a dry run, and follows it for a few characters: a grammar that can go on in too many ways at one place
// compiles, and would fail in every answer.

import type { Grammar } from '../constraint.ts';
import type { LlguidanceEngine } from '../llguidance/llguidance-engine.ts';
import { walk } from './mask-cost-probe.ts';

/** An object with many optional properties fails after its brace, texts with one beginning after their first character. */
const WALK_LENGTH = 16;

/** @param engine With a vocabulary of single bytes. Throws: `GrammarRefused`, `MatcherFailed`. */
export function tryCompile(engine: LlguidanceEngine, grammar: Grammar): void {
  const matcher = engine.compile(grammar);
  try {
    walk(matcher, engine, { seed: 0, length: WALK_LENGTH });
  } finally {
    matcher.dispose();
  }
}
