import { describe, expect, it } from 'vitest';
import { chooseDevice, type DeviceDependencies } from './choose-device.ts';
import type { ProbeReport } from './probe-entry.ts';

const GPU: ProbeReport = { kind: 'works', facts: { device: 'webgpu', name: 'Some GPU', isSoftware: false } };
const SOFTWARE: ProbeReport = {
  kind: 'works',
  facts: { device: 'webgpu', name: 'llvmpipe', isSoftware: true },
};
const BROKEN: ProbeReport = { kind: 'fails', reason: 'no driver' };

function dependencies(report: ProbeReport, hasGraphicsDevice = true) {
  const probed: string[] = [];
  const settings: DeviceDependencies = {
    findRuntime: () => undefined,
    hasGraphicsDevice: () => hasGraphicsDevice,
    probe: async device => {
      probed.push(device);
      return report;
    },
  };
  return { settings, probed };
}

describe('chooseDevice', () => {
  it('takes a real GPU that works', async () => {
    const { settings } = dependencies(GPU);
    expect(await chooseDevice('auto', settings)).toMatchObject({
      device: 'webgpu',
      facts: { name: 'Some GPU' },
    });
  });

  it('tries nothing for the CPU, nor where there is no graphics device', async () => {
    const { settings, probed } = dependencies(GPU, false);
    expect(await chooseDevice('cpu', settings)).toEqual({ device: 'cpu' });
    expect(await chooseDevice('auto', settings)).toMatchObject({
      device: 'cpu',
      note: expect.stringContaining('no graphics'),
    });
    expect(probed).toEqual([]);
  });

  it('falls back with the reason when the GPU does not work', async () => {
    const { settings } = dependencies(BROKEN);
    expect(await chooseDevice('auto', settings)).toEqual({
      device: 'cpu',
      note: 'The GPU cannot be used: no driver',
      isFallback: true,
    });
  });

  it('takes a software driver only when asked to', async () => {
    const { settings } = dependencies(SOFTWARE);
    expect(await chooseDevice('auto', settings)).toMatchObject({
      device: 'cpu',
      note: expect.stringContaining('llvmpipe'),
    });
    expect(await chooseDevice('webgpu', settings)).toMatchObject({ device: 'webgpu' });
  });

  it.each(['auto', 'cpu', 'webgpu'] as const)(
    'refuses %s on a machine without ONNX Runtime',
    async device => {
      const { settings, probed } = dependencies(GPU);
      const findRuntime = () => {
        throw new Error('no build');
      };
      await expect(chooseDevice(device, { ...settings, findRuntime })).rejects.toMatchObject({
        code: 'runtime_failed',
        message: 'no build',
      });
      expect(probed).toEqual([]);
    },
  );

  it('refuses a device that does not exist, with those that do', async () => {
    const { settings, probed } = dependencies(GPU);
    await expect(chooseDevice('tpu' as 'cpu', settings)).rejects.toMatchObject({
      code: 'runtime_failed',
      message: 'The device must be auto, cpu, webgpu or cuda; got tpu.',
    });
    expect(probed).toEqual([]);
  });

  it.each(['webgpu', 'cuda'] as const)('refuses %s by name where it does not work', async device => {
    const { settings, probed } = dependencies(BROKEN);
    await expect(chooseDevice(device, settings)).rejects.toMatchObject({
      code: 'runtime_failed',
      message: 'no driver',
    });
    expect(probed).toEqual([device]);
  });
});
