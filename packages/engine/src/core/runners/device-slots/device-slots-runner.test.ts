import type { OrtBackend } from '@ortler/onnxruntime';
import { describe, expect, it } from 'vitest';
import type { ModelManifest } from '../../../graph-contract.ts';
import { createDeviceSlotsRunner } from './device-slots-runner.ts';

describe('createDeviceSlotsRunner', () => {
  it('refuses a cache of 8-bit codes before it loads anything', async () => {
    const backend = {} as OrtBackend;
    const manifest = { kvType: 'int8' } as ModelManifest;
    const options = {
      device: 'webgpu',
      slotCount: 1,
      contextLength: 8,
      threadCount: 1,
      spin: false,
    } as const;
    await expect(createDeviceSlotsRunner(backend, 'folder', manifest, options)).rejects.toMatchObject({
      code: 'model_invalid',
      parameter: 'device',
      message: expect.stringContaining('folder was built with a cache in int8'),
    });
  });
});
