import { describe, expect, it } from 'vitest';
import { whyNoWebGpu } from '../testing/webgpu-tests.ts';
import { runProbe } from './run-probe.ts';

const reason = await whyNoWebGpu();

describe.skipIf(reason !== undefined)(`probe of a WebGPU device, ${reason ?? 'here'}`, () => {
  it('computes in a child process and reports what the device is', async () => {
    expect(await runProbe('webgpu')).toMatchObject({ kind: 'works', facts: { device: 'webgpu' } });
  });
});
