// The device's sampler against the one on the CPU, on the CPU provider of ONNX Runtime: the same graphs and the same
// arithmetic as on a GPU. The GPU suite runs the same cases on WebGPU.

import { createNativeBackend } from '@ortler/onnxruntime/testing';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { afterAll, describe, expect, it } from 'vitest';
import { deviceSamplerCases, expectSameAnswers } from '../../../../test/device-sampler-cases.ts';
import { caseRow, caseStep } from '../../../../test/sampling-cases.ts';
import type { TokenLogprobs } from '../../../request/token-logprobs.ts';
import { Sampler } from '../sampler.ts';
import { DeviceSampler } from './device-sampler.ts';
import { findArithmeticFault } from './find-arithmetic-fault.ts';

const backend = createNativeBackend();
const samplers = new Map<number, DeviceSampler>();
function samplerFor(vocabSize: number): DeviceSampler {
  let sampler = samplers.get(vocabSize);
  if (sampler === undefined) {
    const options = { threadCount: 1, spin: false, rowLimit: 64 } as const;
    sampler = new DeviceSampler(new Sampler(vocabSize), backend, options);
    samplers.set(vocabSize, sampler);
  }
  return sampler;
}
afterAll(async () => {
  for (const sampler of samplers.values()) await sampler.dispose();
});

/** Rows as a model gives them: some tokens far above a bell curve. */
function peakedRow(vocabSize: number): Float32Array {
  return caseRow({ kind: 'model', seed: 5, params: {}, edits: [], topLogprobCount: 20 }, vocabSize).map(
    (logit, id) => (id % Math.ceil(vocabSize / 20) === 7 ? logit + 18 : logit),
  );
}

describe('DeviceSampler', () => {
  it.each([3, 100, 500, 2_048, 5_000])(
    'draws what the sampler on the CPU draws, from %i tokens',
    async vocabSize => {
      await fc.assert(
        fc.asyncProperty(fc.array(deviceSamplerCases, { minLength: 1, maxLength: 5 }), cases =>
          expectSameAnswers(backend, samplerFor(vocabSize), cases, vocabSize),
        ),
        { numRuns: runs({ daily: 15, full: 60 }) },
      );
    },
    60_000,
  );

  it('reads back less than 4 KB a row with 20 log probabilities, whatever decides', async () => {
    const vocabSize = 151_936;
    const device = samplerFor(vocabSize);
    const row = peakedRow(vocabSize);
    const logits = backend.createTensor('float32', [1, vocabSize], row);
    const settings = [{ temperature: 0 }, { temperature: 1 }, { topP: 0.95 }, { topK: 40 }, { minP: 0.05 }];
    for (const edits of [[], ['mask'], ['repetition', 'counts', 'bias']] as const) {
      const steps = settings.map((params, seed) =>
        caseStep({ kind: 'model', seed, params, edits, topLogprobCount: 20 }, vocabSize),
      );
      const expected = steps.map(step => new Sampler(vocabSize).sample(row.slice(), step).tokenId);
      // Each alone, and together.
      for (const batch of [...steps.map(step => [step]), steps]) {
        const before = device.counters.readBytes;
        const answers = await device.answer(
          [{ value: logits, rowCount: 1 }],
          batch.map(step => ({ kind: 'draw', row: 0, step })),
        );
        for (const [index, step] of batch.entries())
          expect(answers[index]).toMatchObject({ tokenId: expected[steps.indexOf(step)] });
        expect((device.counters.readBytes - before) / batch.length).toBeLessThan(4_096);
      }
    }
    expect(Object.values(device.counters.fetched).every(count => count === 0)).toBe(true);
    logits.dispose();
  });

  it('reads the log probabilities of a token that is not drawn', async () => {
    const vocabSize = 5_000;
    const row = peakedRow(vocabSize);
    const logits = backend.createTensor('float32', [1, vocabSize], row);
    for (const tokenId of [7, 8, 4_999]) {
      const [answer] = await samplerFor(vocabSize).answer(
        [{ value: logits, rowCount: 1 }],
        [{ kind: 'read', row: 0, tokenId, topCount: 5 }],
      );
      const expected = new Sampler(vocabSize).readLogprobs(row, tokenId, 5);
      expect(answer).toMatchObject({ tokenId, rank: expected.rank, topTokenIds: expected.topTokenIds });
      expect((answer as TokenLogprobs).logprob).toBeCloseTo(expected.logprob, 4);
    }
    logits.dispose();
  });

  it('fails only the row that is not made of numbers', async () => {
    const vocabSize = 500;
    const data = new Float32Array(2 * vocabSize).fill(1).fill(Number.NaN, vocabSize);
    const logits = backend.createTensor('float32', [2, vocabSize], data);
    const step = caseStep(
      { kind: 'flat', seed: 1, params: { temperature: 0 }, edits: [], topLogprobCount: 0 },
      vocabSize,
    );
    const [good, bad] = await samplerFor(vocabSize).answer(
      [{ value: logits, rowCount: 2 }],
      [
        { kind: 'draw', row: 0, step },
        { kind: 'draw', row: 1, step },
      ],
    );
    expect(good).toMatchObject({ tokenId: 0 });
    expect(bad).toMatchObject({ message: expect.stringContaining('not numbers') });
    logits.dispose();
  });

  it('finds nothing wrong with the arithmetic here', async () => {
    const vocabSize = 5_000;
    const fault = findArithmeticFault(backend, samplerFor(vocabSize), new Sampler(vocabSize));
    expect(await fault).toBeNull();
  });
});
