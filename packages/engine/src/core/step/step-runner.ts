// Runs a planned step: the model computes the rows and their logits are sampled. Implementations: `host-step-runner.ts`
// samples on the CPU, `device-step-runner.ts` where the logits are on a device. Caller: `../engine-core.ts`.

import { attempt } from '../../errors.ts';
import type { DeviceSamplingStats } from '../../protocol/core-stats.ts';
import type { ModelRunner } from '../runners/model-runner.ts';
import type { StepPlan } from '../scheduler/step-plan.ts';
import type { TokenMask } from '../token-mask.ts';
import type { SampledRow } from './sample-step.ts';

/** For each row: the masks of its next token and of those after the tokens of its draft, or why they are not known. */
export type StepMasks = readonly (readonly TokenMask[] | Error | null)[];

export interface StepRunner {
  readonly model: ModelRunner;
  /** Absent: tokens are sampled on the CPU. */
  readonly deviceStats?: DeviceSamplingStats;
  /**
   * One entry for each row of the plan, in its order: what was sampled, or why this row gave nothing. Changes no sequence.
   * `fillMasks` is called while the model computes. Throws: when the model call or `fillMasks` does.
   */
  run(plan: StepPlan, fillMasks: () => StepMasks): Promise<readonly (SampledRow | Error)[]>;
  /** Frees the model and the sampler. Not while a step runs. */
  close(): Promise<void>;
}

/**
 * Logits and masks. Settles when the model call has: while it computes, its inputs and its cache must not be touched.
 * Throws: the error of the model call where both fail.
 */
export async function computeAndMask<Logits>(
  computing: Promise<Logits>,
  fillMasks: () => StepMasks,
): Promise<{ readonly logits: Logits; readonly masks: StepMasks }> {
  const masks = attempt(fillMasks);
  const logits = await computing;
  if (masks instanceof Error) throw masks;
  return { logits, masks };
}
