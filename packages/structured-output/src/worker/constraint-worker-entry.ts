// Main module of the worker thread that prepares constraints and checks finished texts: the caller's input decides the cost.

import { workerData } from 'node:worker_threads';
import { parseJson } from '@ortler/json';
import { serveTasks } from '@ortler/worker';
import type { ConstraintLimits, ConstraintSpec } from '../constraint-spec.ts';
import { byteVocabulary } from '../dry-run/byte-vocabulary.ts';
import { MaskCostProbe } from '../dry-run/mask-cost-probe.ts';
import { tryCompile } from '../dry-run/try-compile.ts';
import { ConstraintError } from '../errors.ts';
import { prepareConstraint } from '../front-end/prepare-constraint.ts';
import { checkFinishedText } from '../json-schema/check-finished-text.ts';
import { LlguidanceEngine } from '../llguidance/llguidance-engine.ts';
import type { SpecialToken } from '../token-vocabulary.ts';

export interface ConstraintWorkerData {
  readonly specialTokens: readonly SpecialToken[];
  readonly limits: ConstraintLimits;
}

export type ConstraintTask =
  /** As JSON text where possible: a string is cloned at once, a tree value by value. */
  | { readonly kind: 'prepare'; readonly spec: ConstraintSpec | string }
  | { readonly kind: 'check'; readonly schema: string; readonly text: string };

const { specialTokens, limits } = workerData as ConstraintWorkerData;
// A dry run compiles each grammar once: no cache, and the instance is replaced early to give its memory back.
const engine = new LlguidanceEngine(byteVocabulary(specialTokens), { cacheBytes: 0, memoryBytes: 2 ** 28 });
const probe = new MaskCostProbe(specialTokens);

serveTasks((task: ConstraintTask) => {
  if (task.kind === 'check') return checkFinishedText(task.schema, task.text);
  const spec =
    typeof task.spec === 'string' ? (parseJson(task.spec) as unknown as ConstraintSpec) : task.spec;
  return prepareConstraint(spec, {
    limits,
    specialTokens,
    tryCompile: grammar => tryCompile(engine, grammar),
    fitsMaskBudget: grammar => probe.fitsBudget(grammar),
  });
}, ConstraintError);
