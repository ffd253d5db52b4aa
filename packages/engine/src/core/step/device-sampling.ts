// Sampling for a model on a device: there, when the device computes as the sampler needs it. Caller: `load-core.ts`.

import type { OrtBackend, OrtSessionOptions } from '@ortler/onnxruntime';
import type { PagedRunner } from '../runners/paged/paged-runner.ts';
import { DeviceSampler } from '../sampling/device/device-sampler.ts';
import { findArithmeticFault } from '../sampling/device/find-arithmetic-fault.ts';
import { Sampler } from '../sampling/sampler.ts';
import { createDeviceStepSampler, type StepSampler } from './step-runner.ts';

/** One of the two. */
export interface DeviceSampling {
  readonly stepSampler?: StepSampler;
  /** Why logits come to the process instead. */
  readonly note?: string;
}

/** Tries the device on rows whose tokens are known. Throws: when its graphs cannot be run at all. */
export async function createDeviceSampling(
  backend: OrtBackend,
  runner: PagedRunner,
  options: OrtSessionOptions,
): Promise<DeviceSampling> {
  const logitsType = 'float32';
  const processor = new Sampler(runner.facts.vocabSize);
  const device = new DeviceSampler(processor, backend, {
    ...options,
    logitsType,
    rowLimit: runner.facts.logitsLimit,
  });
  const fault = await findArithmeticFault(backend, device, processor, logitsType);
  if (fault === null) return { stepSampler: createDeviceStepSampler(runner, device) };
  await device.dispose();
  return {
    note: `Tokens are drawn on the processor, as this device does not compute them to the bit: ${fault}.`,
  };
}
