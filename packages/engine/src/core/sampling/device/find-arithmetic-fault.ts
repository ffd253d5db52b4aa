// Self-test of the arithmetic of a device, which must be exact to the bit: rows whose tokens are known from the CPU are
// sampled. A driver that rounds differently, or fuses operations, would now and then draw other tokens without an error.
// Called once for each `DeviceSampler`.

import type { OrtBackend } from '@ortler/onnxruntime';
import { NEUTRAL_SAMPLING } from '../../../request/sampling-params.ts';
import { counterKey, uniformAt } from '../counter-random.ts';
import { biasTokens } from '../processors/logit-bias.ts';
import { penalizeRepetition } from '../processors/penalties.ts';
import type { Sampler, SamplingStep } from '../sampler.ts';
import type { DeviceSampler } from './device-sampler.ts';

const TEMPERATURES = [0, 0.3, 0.7, 1, 1, 1.3, 1.7, 2];
const PENALIZED_COUNT = 64;
/** As coarse as logits of this size that a graph computes in float16. */
const LOGIT_STEP = 2 ** -7;

/** Null when every token is the one that `sampler` draws; else a description of the difference. */
export async function findArithmeticFault(
  backend: OrtBackend,
  device: DeviceSampler,
  sampler: Sampler,
): Promise<string | null> {
  const { vocabSize } = sampler;
  const rowCount = TEMPERATURES.length;
  const rows = new Float32Array(rowCount * vocabSize);
  for (let index = 0; index < rows.length; index++) {
    const uniform = uniformAt(counterKey(1n), index);
    rows[index] = Math.round((12 * uniform ** 3 - 4) / LOGIT_STEP) * LOGIT_STEP;
  }
  const logits = backend.createTensor('float32', [rowCount, vocabSize], rows);
  try {
    const steps = TEMPERATURES.map((temperature, row) => toStep(temperature, row, vocabSize));
    const answers = await device.answer(
      [{ value: logits, rowCount }],
      steps.map((step, row) => ({ kind: 'draw', row, step })),
    );
    for (const [row, step] of steps.entries()) {
      const expected = sampler.sample(rows.slice(row * vocabSize, (row + 1) * vocabSize), step).tokenId;
      const answer = answers[row]!;
      if (answer instanceof Error) return answer.message;
      if (answer.tokenId === expected) continue;
      return `at temperature ${step.params.temperature} it drew token ${answer.tokenId} where ${expected} is right`;
    }
    return null;
  } finally {
    logits.dispose();
  }
}

/** Every second row has edits, among them a division. */
function toStep(temperature: number, row: number, vocabSize: number): SamplingStep {
  const ids = new Set(
    Array.from({ length: PENALIZED_COUNT }, (_, i) => Math.floor(uniformAt(counterKey(2n), i) * vocabSize)),
  );
  const [first = 0] = ids;
  const edits = [biasTokens([{ tokenId: first, bias: 2.7 }]), penalizeRepetition(Int32Array.from(ids), 1.3)];
  return {
    params: { ...NEUTRAL_SAMPLING, temperature },
    randomKey: counterKey(BigInt(row)),
    position: row,
    processors: row % 2 === 0 ? [] : edits,
    output: { outputTokenIds: [], tokenCounts: null },
    topLogprobCount: undefined,
  };
}
