// A folder that onnxruntime-genai's model builder wrote for WebGPU, in float16 with norms inside its attention, against what its
// own runtime computes for the CPU's folder of the same checkpoint (packages/model-builder/test/golden/genai).

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDeviceSlotsRunner, readManifest } from '@ortler/engine/testing';
import { ensureModel } from '@ortler/model-builder';
import { selectBackend } from '@ortler/onnxruntime';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { describe, expect, it } from 'vitest';
import { logitsDistance } from './logits-distance.ts';
import { row } from './runner-rows.ts';

const GOLDEN = join(import.meta.dirname, '../../packages/model-builder/test/golden/genai');
/**
 * The CPU rounds activations of quantised products to 8 bits per block, the device does not at this size. Logits are from -3.3
 * to 3.9. Seen: 0.19.
 */
const ACTIVATION_ROUNDING = 0.25;

const reason = await whyNoWebGpu();

describe.skipIf(reason !== undefined)(
  `a folder of onnxruntime-genai on a device, ${reason ?? 'here'}`,
  () => {
    it('gives the logits of the folder for the CPU, in one call as in chunks', async () => {
      const root = await mkdtemp(join(tmpdir(), 'ortler-genai-'));
      const { prompt, models } = JSON.parse(readFileSync(join(GOLDEN, 'goldens.json'), 'utf8'));
      const expected: readonly number[] = models['qwen3-int4'].logits[0];
      const sourceDir = join(GOLDEN, 'qwen3-webgpu');
      const folder = await ensureModel({ sourceDir, cacheDir: root, precision: 'q4', variant: 'paged' });
      const { backend } = await selectBackend('native');
      const options = {
        slotCount: 2,
        contextLength: 96,
        threadCount: 1,
        spin: false,
        device: 'webgpu',
      } as const;
      const runner = await createDeviceSlotsRunner(backend, folder, await readManifest(folder), options);
      const whole = (await runner.run([row(0, 0, prompt)])).slice();
      await runner.run([row(1, 0, prompt.slice(0, 25))]);
      const chunked = (await runner.run([row(1, 25, prompt.slice(25))])).slice();
      for (const found of [whole, chunked])
        expect(logitsDistance(found, expected)).toBeLessThan(ACTIVATION_ROUNDING);
      await runner.close();
      await rm(root, { recursive: true, force: true });
    });
  },
);
