// The cases of `device-sampler.property.test.ts` on WebGPU: what shaders make of the same graphs.

import { createNativeBackend, whyNoWebGpu } from '@ortler/onnxruntime/testing';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { deviceSamplerCases, expectSameAnswers } from '../../../../test/device-sampler-cases.ts';
import { Sampler } from '../sampler.ts';
import { DeviceSampler } from './device-sampler.ts';
import { findArithmeticFault } from './find-arithmetic-fault.ts';

const reason = await whyNoWebGpu();

describe.skipIf(reason !== undefined)(`DeviceSampler on WebGPU, ${reason ?? 'here'}`, () => {
  const backend = createNativeBackend();
  const open: DeviceSampler[] = [];
  const create = (vocabSize: number): DeviceSampler => {
    const options = { threadCount: 1, spin: false, device: 'webgpu', rowLimit: 64 } as const;
    const sampler = new DeviceSampler(new Sampler(vocabSize), backend, options);
    open.push(sampler);
    return sampler;
  };
  afterAll(async () => {
    for (const sampler of open) await sampler.dispose();
  });

  it('draws what the sampler on the CPU draws', async () => {
    const vocabSize = 5_000;
    const sampler = create(vocabSize);
    await fc.assert(
      fc.asyncProperty(fc.array(deviceSamplerCases, { minLength: 1, maxLength: 4 }), cases =>
        expectSameAnswers(backend, sampler, cases, vocabSize),
      ),
      { numRuns: 25 },
    );
  });

  it('computes weights to the bit', async () => {
    const sampler = create(151_936);
    expect(await findArithmeticFault(backend, sampler, new Sampler(151_936))).toBeNull();
    expect(sampler.counters.fetched.many).toBe(0);
  });
});
