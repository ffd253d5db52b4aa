// From a plan to what each of its rows gave: the model call and the sampling after it, with the logits in the process or
// where a device left them. Caller: `../engine-core.ts`.

import type { DeviceSamplingStats } from '../../link/messages.ts';
import type { DeviceLogits } from '../model/device-logits.ts';
import type { RunnerRow } from '../model/model-runner.ts';
import type { StepPlan } from '../scheduler/step-plan.ts';
import type { TokenMask } from '../token-mask.ts';
import type { DeviceSampler } from './device/device-sampler.ts';
import { sampleDeviceStep } from './device/sample-device-step.ts';
import { type SampledRow, sampleStep } from './sample-step.ts';
import type { Sampler } from './sampler.ts';

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

/** Brings all logits to the process. */
export function createHostStepSampler(
  runner: { run(rows: readonly RunnerRow[]): Promise<Float32Array> },
  sampler: Sampler,
): StepSampler {
  return {
    async sample(plan, fillMasks) {
      const running = runner.run(plan.rows);
      const masks = whileRunning(running, fillMasks);
      return sampleStep(sampler, plan, await running, masks);
    },
    dispose: () => Promise.resolve(),
  };
}

/** Leaves logits on the device. */
export function createDeviceStepSampler(
  runner: { compute(rows: readonly RunnerRow[]): Promise<DeviceLogits> },
  sampler: DeviceSampler,
): StepSampler {
  return {
    async sample(plan, fillMasks) {
      const running = runner.compute(plan.rows);
      const masks = whileRunning(running, fillMasks);
      return sampleDeviceStep(sampler, plan, await running, masks);
    },
    get deviceStats() {
      const { rowCount, readBytes, fetched } = sampler.counters;
      const fetchedRowCount = Object.values(fetched).reduce((sum, count) => sum + count, 0);
      return { rowCount, fetchedRowCount, readBytes };
    },
    dispose: () => sampler.dispose(),
  };
}

/** The masks. A model call that fails while they fail as well is not left without anybody to hear of it. */
function whileRunning(running: Promise<unknown>, fillMasks: () => StepMasks): StepMasks {
  running.catch(() => undefined);
  return fillMasks();
}
