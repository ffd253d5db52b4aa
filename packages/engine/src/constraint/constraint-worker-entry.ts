// Main module of the worker that prepares constraints and checks finished texts: work whose cost a request decides.

import { workerData } from 'node:worker_threads';
import { checkFinishedText } from '../core/constraint/check-finished-text.ts';
import { GrammarTrial } from '../core/constraint/grammar-trial.ts';
import { parseJson } from '../core/constraint/json-schema/json-value.ts';
import { LlguidanceEngine } from '../core/constraint/llguidance/llguidance-engine.ts';
import { prepareConstraint } from '../core/constraint/prepare-constraint.ts';
import { trialVocabulary } from '../core/constraint/trial-vocabulary.ts';
import type { AmbiguousPatterns, ConstraintLimits, ConstraintSpec } from '../request/constraint-spec.ts';
import type { SpecialToken } from '../request/token-vocabulary.ts';
import { serveTasks } from '../text/serve-tasks.ts';

export interface ConstraintWorkerData {
  readonly specialTokens: readonly SpecialToken[];
  readonly limits: ConstraintLimits;
  readonly ambiguousPatterns: AmbiguousPatterns;
}

export type ConstraintTask =
  /** As JSON text where it can be one: a text is handed over at once, a tree value by value. */
  | { readonly kind: 'prepare'; readonly spec: ConstraintSpec | string }
  | { readonly kind: 'check'; readonly schema: string; readonly text: string };

const { specialTokens, limits, ambiguousPatterns } = workerData as ConstraintWorkerData;
// A trial compiles each grammar once, so nothing is worth keeping, and the memory it took is given back early.
const engine = new LlguidanceEngine(trialVocabulary(specialTokens), { cacheBytes: 0, memoryBytes: 2 ** 28 });
const trial = new GrammarTrial(specialTokens);

serveTasks((task: ConstraintTask) => {
  if (task.kind === 'check') return checkFinishedText(task.schema, task.text);
  const spec =
    typeof task.spec === 'string' ? (parseJson(task.spec) as unknown as ConstraintSpec) : task.spec;
  return prepareConstraint(spec, {
    limits,
    ambiguousPatterns,
    specialTokens,
    tryCompile: grammar => engine.compile(grammar).dispose(),
    canFollow: grammar => trial.canFollow(grammar),
  });
});
