import type { OrtBackend, OrtSession } from '@ortler/onnxruntime';
import { createNativeBackend } from '@ortler/onnxruntime/testing';
import { expect, it } from 'vitest';
import type { DeviceSampler } from '../sampling/device/device-sampler.ts';
import { createDeviceStepRunner, type DeviceModelRunner, DeviceStepRunner } from './device-step-runner.ts';

it('keeps no graph of a self-test that cannot be run', async () => {
  const native = createNativeBackend();
  const open = new Set<OrtSession>();
  const backend: Pick<OrtBackend, 'createSession' | 'createTensor'> = {
    createSession: async (...values) => {
      // The graph that finds a token in its block comes after the first one.
      if (open.size > 0) throw new Error('The device is out of memory.');
      const session = await native.createSession(...values);
      open.add(session);
      const dispose = session.dispose.bind(session);
      session.dispose = () => {
        open.delete(session);
        dispose();
      };
      return session;
    },
    createTensor: (...values) => native.createTensor(...values),
  };
  const model = { facts: { vocabSize: 300, logitsLimit: 8 } } as DeviceModelRunner;
  const options = { threadCount: 1, spin: false };
  await expect(createDeviceStepRunner(backend as OrtBackend, model, options)).rejects.toThrow(
    'out of memory',
  );
  expect(open.size).toBe(0);
});

it('counts the rows that were fetched, whatever the reason', () => {
  const fetched = { numbers: 1, ties: 2, many: 0, reasoning: 4, edits: 0, logprobs: 8 };
  const sampler = { counters: { rowCount: 90, readBytes: 70, fetched } } as DeviceSampler;
  const { deviceStats } = new DeviceStepRunner({} as DeviceModelRunner, sampler);
  expect(deviceStats).toEqual({ rowCount: 90, fetchedRowCount: 15, readBytes: 70 });
});
