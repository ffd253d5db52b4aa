// Runs steps whose logits stay on the device and are sampled there, where the device computes exactly enough.

import type { OrtBackend, OrtSessionOptions } from '@ortler/onnxruntime';
import type { DeviceSamplingStats } from '../../protocol/core-stats.ts';
import type { ModelRunner, RunnerRow } from '../runners/model-runner.ts';
import type { DeviceLogits } from '../runners/paged/device-logits.ts';
import { DeviceSampler } from '../sampling/device/device-sampler.ts';
import { findArithmeticFault } from '../sampling/device/find-arithmetic-fault.ts';
import { Sampler } from '../sampling/sampler.ts';
import type { StepPlan } from '../scheduler/step-plan.ts';
import { HostStepRunner } from './host-step-runner.ts';
import { sampleDeviceStep } from './sample-device-step.ts';
import type { SampledRow } from './sample-step.ts';
import { computeAndMask, type StepMasks, type StepRunner } from './step-runner.ts';

/** A model whose logits can stay on the device. */
export type DeviceModelRunner = ModelRunner & {
  runOnDevice(rows: readonly RunnerRow[]): Promise<DeviceLogits>;
};

export class DeviceStepRunner implements StepRunner {
  readonly model: DeviceModelRunner;
  readonly #sampler: DeviceSampler;

  /** Owns the model and the sampler. */
  constructor(model: DeviceModelRunner, sampler: DeviceSampler) {
    this.model = model;
    this.#sampler = sampler;
  }

  get deviceStats(): DeviceSamplingStats {
    const { rowCount, readBytes, fetched } = this.#sampler.counters;
    const fetchedRowCount = Object.values(fetched).reduce((sum, count) => sum + count, 0);
    return { rowCount, fetchedRowCount, readBytes };
  }

  async run(plan: StepPlan, fillMasks: () => StepMasks): Promise<readonly (SampledRow | Error)[]> {
    const { logits, masks } = await computeAndMask(this.model.runOnDevice(plan.rows), fillMasks);
    return sampleDeviceStep(this.#sampler, plan, logits, masks);
  }

  async close(): Promise<void> {
    await this.#sampler.dispose();
    await this.model.close();
  }
}

/** A step runner for a model on a device. */
export interface FoundStepRunner {
  readonly stepRunner: StepRunner;
  /** Why tokens are sampled on the CPU instead of on the device. */
  readonly samplingNote?: string;
}

/**
 * Samples on the device if it computes rows whose tokens are known to the bit, else on the CPU. Throws: when the sampling
 * graphs cannot be run at all.
 */
export async function createDeviceStepRunner(
  backend: OrtBackend,
  model: DeviceModelRunner,
  options: OrtSessionOptions,
): Promise<FoundStepRunner> {
  const hostSampler = new Sampler(model.facts.vocabSize);
  const rowLimit = model.facts.logitsLimit;
  const sampler = new DeviceSampler(hostSampler, backend, { ...options, rowLimit });
  let fault: string | null | undefined;
  try {
    fault = await findArithmeticFault(backend, sampler, hostSampler);
  } finally {
    if (fault !== null) await sampler.dispose();
  }
  if (fault === null) return { stepRunner: new DeviceStepRunner(model, sampler) };
  return {
    stepRunner: new HostStepRunner(model),
    samplingNote: `Tokens are sampled on the CPU, because this device does not compute them to the bit: ${fault}.`,
  };
}
