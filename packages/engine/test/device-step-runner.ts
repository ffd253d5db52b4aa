// A step runner as for a model on a device, over a scripted model: its logits lie in values of ONNX Runtime's CPU provider,
// where the device's sampler reads them.

import type { OrtBackend } from '@ortler/onnxruntime';
import type { RunnerRow } from '../src/core/runners/model-runner.ts';
import { DeviceSampler } from '../src/core/sampling/device/device-sampler.ts';
import { Sampler } from '../src/core/sampling/sampler.ts';
import { DeviceStepRunner } from '../src/core/step/device-step-runner.ts';
import type { StepRunner } from '../src/core/step/step-runner.ts';
import type { ScriptedModel } from '../src/testing/scripted-model.ts';

export interface DeviceStepRunners {
  /** One for a model of that vocabulary and at most so many rows of logits; only one model computes at a time. */
  of(model: ScriptedModel): StepRunner;
  dispose(): Promise<void>;
}

/** The sampler and the memory are made once, because graphs are loaded lazily. */
export function createDeviceStepRunners(
  backend: OrtBackend,
  { vocabSize, logitsLimit }: { readonly vocabSize: number; readonly logitsLimit: number },
): DeviceStepRunners {
  const data = new Float32Array(logitsLimit * vocabSize);
  const first = backend.createTensor('float32', [logitsLimit, vocabSize], data);
  const rest = backend.createTensor('float32', [logitsLimit - 1, vocabSize], data.subarray(vocabSize));
  const sampler = new DeviceSampler(new Sampler(vocabSize), backend, {
    threadCount: 1,
    spin: false,
    rowLimit: logitsLimit,
  });
  return {
    of(model) {
      const runOnDevice = async (rows: readonly RunnerRow[]) => {
        data.set(await model.run(rows));
        // In two parts, because a runner may compute a step in two calls.
        return [
          { value: first, rowCount: 1 },
          { value: rest, rowCount: logitsLimit - 1 },
        ];
      };
      const runner = new DeviceStepRunner(Object.assign(model, { runOnDevice }), sampler);
      // The sampler outlives the runner.
      return { model, run: (plan, fillMasks) => runner.run(plan, fillMasks), close: () => model.close() };
    },
    dispose: () => sampler.dispose(),
  };
}
