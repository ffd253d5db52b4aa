// From a plan to what each of its rows gave: the model call and the sampling after it, with the logits in the process or
// where a device left them. Caller: `../engine-core.ts`.

import type { DeviceSamplingStats } from '../../protocol/core-stats.ts';
import type { RunnerRow } from '../runners/model-runner.ts';
import type { DeviceLogits } from '../runners/paged/device-logits.ts';
import type { DeviceSampler } from '../sampling/device/device-sampler.ts';
import type { Sampler } from '../sampling/sampler.ts';
import type { SamplingThreads } from '../sampling/threads/sampling-threads.ts';
import type { StepPlan } from '../scheduler/step-plan.ts';
import type { TokenMask } from '../token-mask.ts';
import { sampleDeviceStep } from './sample-device-step.ts';
import { type SampledRow, sampleStep } from './sample-step.ts';

/** What each row may draw, first and behind the tokens of its draft, or why that is not known. */
export type StepMasks = readonly (readonly TokenMask[] | Error | null)[];

export interface StepSampler {
  /** `fillMasks` is called while the model computes. Throws: what the model call throws. */
  sample(plan: StepPlan, fillMasks: () => StepMasks): Promise<(SampledRow | Error)[]>;
  /** Absent: logits come to the process. */
  readonly deviceStats?: DeviceSamplingStats;
  /** Before the runner is closed. */
  dispose(): Promise<void>;
}

/** Brings all logits to the process. Threads: without any, this one samples all rows. */
export function createHostStepSampler(
  runner: { run(rows: readonly RunnerRow[]): Promise<Float32Array> },
  sampler: Sampler,
  threads?: SamplingThreads,
): StepSampler {
  return {
    async sample(plan, fillMasks) {
      const [logits, masks] = await beside(runner.run(plan.rows), fillMasks);
      return sampleStep(sampler, plan, logits, masks, threads);
    },
    dispose: async () => threads?.dispose(),
  };
}

/** Leaves logits on the device. */
export function createDeviceStepSampler(
  runner: { compute(rows: readonly RunnerRow[]): Promise<DeviceLogits> },
  sampler: DeviceSampler,
): StepSampler {
  return {
    async sample(plan, fillMasks) {
      const [logits, masks] = await beside(runner.compute(plan.rows), fillMasks);
      return sampleDeviceStep(sampler, plan, logits, masks);
    },
    get deviceStats() {
      const { rowCount, readBytes, fetched } = sampler.counters;
      const fetchedRowCount = Object.values(fetched).reduce((sum, count) => sum + count, 0);
      return { rowCount, fetchedRowCount, readBytes };
    },
    dispose: () => sampler.dispose(),
  };
}

/** Both results. Settles when the model call has: while it runs, its inputs and its cache must not be touched. */
async function beside<Logits>(
  running: Promise<Logits>,
  fillMasks: () => StepMasks,
): Promise<readonly [Logits, StepMasks]> {
  const [logits, masks] = await Promise.allSettled([running, (async () => fillMasks())()]);
  if (logits.status === 'rejected') throw logits.reason;
  if (masks.status === 'rejected') throw masks.reason;
  return [logits.value, masks.value];
}
