// The device's sampler against the one on the CPU, on the CPU provider of ONNX Runtime: the same graphs and the same
// arithmetic as on a GPU. The GPU suite runs the same cases on WebGPU.

import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { deviceSamplerCases, expectSameAnswers } from '../../../../test/device-sampler-cases.ts';
import { createNativeBackend } from '../../model/ort/native-backend.ts';
import { Sampler } from '../sampler.ts';
import { DeviceSampler } from './device-sampler.ts';

const backend = createNativeBackend();
const samplers = new Map<number, DeviceSampler>();
function samplerFor(vocabSize: number): DeviceSampler {
  let sampler = samplers.get(vocabSize);
  if (sampler === undefined) {
    const options = { threadCount: 1, spin: false, logitsType: 'float32' } as const;
    sampler = new DeviceSampler(new Sampler(vocabSize), backend, options);
    samplers.set(vocabSize, sampler);
  }
  return sampler;
}
afterAll(async () => {
  for (const sampler of samplers.values()) await sampler.dispose();
});

describe('DeviceSampler', () => {
  it.each([3, 100, 500, 2_048, 5_000])(
    'draws what the sampler on the CPU draws, from %i tokens',
    async vocabSize => {
      await fc.assert(
        fc.asyncProperty(fc.array(deviceSamplerCases, { minLength: 1, maxLength: 5 }), cases =>
          expectSameAnswers(backend, samplerFor(vocabSize), cases, vocabSize),
        ),
        { numRuns: 60 },
      );
    },
  );
});
