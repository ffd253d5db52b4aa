// Feeds texts to a constraint byte by byte, as if each byte were a token: the shortest way to ask what it allows.

import type { ConstraintMatcher, PreparedConstraint } from '../src/constraint.ts';
import { type ConstraintSpec, DEFAULT_CONSTRAINT_LIMITS } from '../src/constraint-spec.ts';
import { byteVocabulary } from '../src/dry-run/byte-vocabulary.ts';
import { MaskCostProbe } from '../src/dry-run/mask-cost-probe.ts';
import { prepareConstraint } from '../src/front-end/prepare-constraint.ts';
import { LlguidanceEngine } from '../src/llguidance/llguidance-engine.ts';

/** Byte `b` is token `b`; token 256 ends. */
export const byteEngine = new LlguidanceEngine(byteVocabulary([]));
const probe = new MaskCostProbe([]);

export function prepare(spec: ConstraintSpec): PreparedConstraint {
  return prepareConstraint(spec, {
    limits: DEFAULT_CONSTRAINT_LIMITS,
    specialTokens: [],
    tryCompile: grammar => byteEngine.compile(grammar).dispose(),
    fitsMaskBudget: grammar => probe.fitsBudget(grammar),
  });
}

/** Whether the grammar allows the whole text and may end there. */
export function allows(prepared: PreparedConstraint, text: string): boolean {
  return feed(prepared, text, matcher => matcher.canStop());
}

/** Whether a text that the grammar allows begins with this one. */
export function begins(prepared: PreparedConstraint, text: string): boolean {
  return feed(prepared, text, () => true);
}

function feed(
  { grammar }: PreparedConstraint,
  text: string,
  isEnough: (matcher: ConstraintMatcher) => boolean,
): boolean {
  const matcher = byteEngine.compile(grammar);
  try {
    for (const byte of new TextEncoder().encode(text)) if (!matcher.accept(byte)) return false;
    return isEnough(matcher);
  } finally {
    matcher.dispose();
  }
}
