// Cases for the sampler on a device, and the check that it answers as the one on the CPU does. Used on the CPU provider
// by a unit test and on WebGPU by the GPU suite.

import type { OrtBackend } from '@ortler/onnxruntime';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { DeviceSampler } from '../src/core/sampling/device/device-sampler.ts';
import type { RowQuestion } from '../src/core/sampling/device/row-work.ts';
import { Sampler } from '../src/core/sampling/sampler.ts';
import { caseRow, caseStep, EDIT_KINDS, ROW_KINDS, type SamplingCase } from './sampling-cases.ts';

export const deviceSamplerCases: fc.Arbitrary<SamplingCase> = fc.record({
  kind: fc.constantFrom(...ROW_KINDS),
  seed: fc.nat(1_000_000),
  params: fc.record({
    temperature: fc.constantFrom(0, 0.01, 0.3, 1, 1, 1.7, 2),
    topK: fc.constantFrom(0, 0, 0, 1, 5, 50, 400),
    topP: fc.constantFrom(1, 1, 0.95, 0.5, 1e-9),
    minP: fc.constantFrom(0, 0, 0, 1e-6, 0.05, 1),
  }),
  edits: fc.oneof(fc.constant([]), fc.subarray([...EDIT_KINDS])),
  topLogprobCount: fc.constantFrom(undefined, undefined, 0, 1, 20),
});

/** Log probabilities are equal but for the rounding of a float32 sum. */
const LOGPROB_ERROR = 5e-6;

export async function expectSameAnswers(
  backend: OrtBackend,
  device: DeviceSampler,
  cases: readonly SamplingCase[],
  vocabSize: number,
): Promise<void> {
  const data = new Float32Array(cases.length * vocabSize);
  for (const [index, one] of cases.entries()) data.set(caseRow(one, vocabSize), index * vocabSize);
  const logits = backend.createTensor('float32', [cases.length, vocabSize], data);
  const questions = cases.map(
    (one, row): RowQuestion => ({ kind: 'draw', row, step: caseStep(one, vocabSize) }),
  );
  const answers = await device.answer([{ value: logits, rowCount: cases.length }], questions);
  const sampler = new Sampler(vocabSize);
  cases.forEach((one, index) => {
    const answer = answers[index]!;
    let expected: ReturnType<Sampler['sample']>;
    try {
      expected = sampler.sample(caseRow(one, vocabSize), caseStep(one, vocabSize));
    } catch (error) {
      expect(answer).toEqual(error);
      return;
    }
    if (answer instanceof Error) throw answer;
    expect(answer.tokenId).toBe(expected.tokenId);
    expect('logprobs' in answer).toBe(expected.logprobs !== undefined);
    if (expected.logprobs === undefined || !('logprobs' in answer)) return;
    const { topLogprobs, logprob, ...exact } = answer.logprobs!;
    const { topLogprobs: expectedTops, logprob: expectedOne, ...expectedExact } = expected.logprobs;
    expect(exact).toEqual(expectedExact);
    const pairs = [
      [logprob, expectedOne],
      ...topLogprobs.entries().map(([i, value]) => [value, expectedTops[i]!]),
    ];
    for (const [value, wanted] of pairs) {
      if (wanted === -Infinity) expect(value).toBe(-Infinity);
      else expect(Math.abs(value! - wanted!)).toBeLessThan(LOGPROB_ERROR * Math.max(1, Math.abs(wanted!)));
    }
  });
  logits.dispose();
}
