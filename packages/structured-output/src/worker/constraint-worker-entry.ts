// Main module of the worker that prepares constraints and checks finished texts: work whose cost a request decides.

import { workerData } from 'node:worker_threads';
import { parseJson } from '@ortler/json';
import { serveTasks } from '@ortler/worker';
import { checkFinishedText } from '../json-schema/check-finished-text.ts';
import type { ConstraintLimits, ConstraintSpec } from '../constraint-spec.ts';
import { ConstraintError } from '../errors.ts';
import { GrammarTrial } from '../dry-run/mask-cost-probe.ts';
import { LlguidanceEngine } from '../llguidance/llguidance-engine.ts';
import { prepareConstraint } from '../front-end/prepare-constraint.ts';
import type { SpecialToken } from '../token-vocabulary.ts';
import { trialVocabulary } from '../dry-run/byte-vocabulary.ts';

export interface ConstraintWorkerData {
  readonly specialTokens: readonly SpecialToken[];
  readonly limits: ConstraintLimits;
}

export type ConstraintTask =
  /** As JSON text where it can be one: a text is handed over at once, a tree value by value. */
  | { readonly kind: 'prepare'; readonly spec: ConstraintSpec | string }
  | { readonly kind: 'check'; readonly schema: string; readonly text: string };

const { specialTokens, limits } = workerData as ConstraintWorkerData;
// A trial compiles each grammar once, so nothing is worth keeping, and the memory it took is given back early.
const engine = new LlguidanceEngine(trialVocabulary(specialTokens), { cacheBytes: 0, memoryBytes: 2 ** 28 });
const trial = new GrammarTrial(specialTokens);

serveTasks((task: ConstraintTask) => {
  if (task.kind === 'check') return checkFinishedText(task.schema, task.text);
  const spec =
    typeof task.spec === 'string' ? (parseJson(task.spec) as unknown as ConstraintSpec) : task.spec;
  return prepareConstraint(spec, {
    limits,
    specialTokens,
    tryCompile: grammar => engine.compile(grammar).dispose(),
    canFollow: grammar => trial.canFollow(grammar),
  });
}, ConstraintError);
