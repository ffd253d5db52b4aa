// CPU models where the kernels cannot be used, and where they could be but are not.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseVariants } from '@ortler/engine/graph-contract';
import { type CoreOptions, loadCore } from '@ortler/engine/testing';
import { ensureModel } from '@ortler/model-builder';
import { createTinyCheckpoint, writeOptimumModel } from '@ortler/model-builder/testing';
import { probeKernels, selectBackend } from '@ortler/onnxruntime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTinyModelFolder, type TinyModelFolder } from './tiny-model-folder.ts';

let kernels: TinyModelFolder;
let slots: TinyModelFolder;
beforeAll(async () => {
  kernels = await createTinyModelFolder('q4', {}, { kvType: 'int8' });
  slots = await createTinyModelFolder('q4', {}, { variant: 'slots' });
});
afterAll(async () => {
  await kernels.remove();
  await slots.remove();
});

const load = (modelDir: string, options: Partial<CoreOptions> = {}) =>
  loadCore({ modelDir, threadCount: 1, maxSequences: 1, ...options });
const loadWithout = (modelDir: string) =>
  loadCore({ modelDir, threadCount: 1, maxSequences: 1 }, undefined, choice =>
    selectBackend(choice, { kernels: 'off' }),
  );

describe('where the kernels cannot be used', () => {
  it("a checkpoint is built for ONNX Runtime's own operators", () => {
    const missing = { missing: 'no library' };
    expect(chooseVariants({ device: 'cpu', isOptional: true }, missing)).toEqual(['slots']);
    const onDevice = chooseVariants({ device: 'webgpu', isOptional: true }, missing);
    expect(onDevice).toEqual(['paged', 'device-slots', 'slots']);
  });

  it('such a build runs, and says why it is slower', async () => {
    const core = await loadWithout(slots.dir);
    expect(core.facts).toMatchObject({
      device: 'cpu',
      deviceNote:
        "The CPU kernels cannot be used: they are switched off. The model runs on ONNX Runtime's own operators.",
    });
    expect(core.facts.kernels).toBeUndefined();
    await core.close();
  });

  it('a build for the kernels is refused with the reason and what to do', async () => {
    await expect(loadWithout(kernels.dir)).rejects.toMatchObject({
      code: 'model_invalid',
      message: `${kernels.dir} was built for the CPU kernels of Ortler, which cannot be used here: they are switched off. Build the checkpoint again on this machine, or with variant "slots".`,
    });
  });

  it('as with the stock binding', async () => {
    await expect(load(kernels.dir, { tuning: { backend: 'node' } })).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringMatching(/cannot be used here: onnxruntime-node's own API loads no operators\. /),
    });
  });

  it('an export of another program has no note, because it never has them', async () => {
    const root = await mkdtemp(join(tmpdir(), 'ortler-exported-'));
    const [sourceDir, optimum] = [join(root, 'checkpoint'), join(root, 'optimum')];
    await createTinyCheckpoint(sourceDir);
    await writeOptimumModel({ sourceDir, outputDir: optimum, precision: 'f32', logits: 'all' });
    const cacheDir = join(root, 'cache');
    const core = await loadWithout(await ensureModel({ sourceDir: optimum, cacheDir, precision: 'f32' }));
    expect(core.facts.deviceNote).toBeUndefined();
    await core.close();
    await rm(root, { recursive: true });
  });
});

describe('where the kernels can be used', async () => {
  const probed = await probeKernels();

  it('a checkpoint is built for them on the CPU, and for paged attention on a device', () => {
    expect(chooseVariants({ device: 'cpu', isOptional: true }, probed)).toEqual(['kernels']);
    for (const device of ['webgpu', 'cuda'])
      expect(chooseVariants({ device, isOptional: false }, probed)).toEqual(['paged', 'device-slots']);
  });

  it('such a build names the instruction set and has no note', async () => {
    const core = await load(kernels.dir);
    expect(core.facts).toMatchObject({ device: 'cpu', kernels: 'isa' in probed && probed.isa });
    expect(core.facts.deviceNote).toBeUndefined();
    await core.close();
  });

  it("a build for ONNX Runtime's own operators says that a new one would be faster", async () => {
    const core = await load(slots.dir);
    expect(core.facts.deviceNote).toBe(
      "The model was built for ONNX Runtime's own operators; a new build would use the CPU kernels.",
    );
    await core.close();
  });

  it('such a build is refused on a device that is named, and stays on the CPU where the device is optional', async () => {
    await expect(load(kernels.dir, { device: 'webgpu' })).rejects.toMatchObject({
      code: 'model_invalid',
      message: expect.stringContaining(
        `"webgpu" cannot run ${kernels.dir}, which was built as "kernels" for a CPU`,
      ),
    });
    const core = await load(kernels.dir, { device: 'webgpu', isDeviceOptional: true });
    expect(core.facts).toMatchObject({
      device: 'cpu',
      deviceNote: 'The model was built for the CPU, so it runs there.',
    });
    await core.close();
  });
});
