// The trial of norms inside the attention on a real device, over WebGPU, whose attention refuses them.

import { selectBackend } from '@ortler/onnxruntime';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { describe, expect, it } from 'vitest';
import { plainHeadNormAttention } from '../../../../test/plain-head-norm-attention.ts';
import { findHeadNormFault, NORM_BOUND, runTrial } from './choose-graph.ts';
import { trialData } from './head-norm-trial.ts';

const reason = await whyNoWebGpu();
const OPTIONS = { device: 'webgpu', threadCount: 1, spin: false } as const;

describe.skipIf(reason !== undefined)(`the trial of norms inside the attention, ${reason ?? 'here'}`, () => {
  it.each([32, 64])('knows what norms as operators of their own give, in heads of %i', async headSize => {
    const { backend } = await selectBackend('native');
    const data = trialData(headSize);
    const seen = await runTrial(backend, data, 'apart', OPTIONS);
    const expected = plainHeadNormAttention(data);
    const differences = Array.from(seen, (value, i) => Math.abs(value - expected[i]!));
    // The bound is for two attentions that round, this one for one of them.
    expect(Math.max(...differences)).toBeLessThan(NORM_BOUND / 4);
  });

  it('says that the attention of WebGPU refuses them', async () => {
    const { backend } = await selectBackend('native');
    expect(await findHeadNormFault(backend, 64, OPTIONS)).toMatch(
      /q_norm_weight\/k_norm_weight .* not supported/,
    );
  });
});
