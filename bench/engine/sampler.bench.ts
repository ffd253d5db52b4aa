// How long the sampler takes for one row of a large vocabulary, by settings. Logits are shaped like a model's:
// a bell curve with a few tokens far above it.
//
//     node --conditions=source bench/engine/sampler.ts

import type { SamplingParams } from '@ortler/engine';
import { counterKey, NEUTRAL_SAMPLING, Sampler } from '@ortler/engine/testing';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';

const VOCAB_SIZE = 151_936;
const ROUND_COUNT = 60;

interface Settings extends Partial<SamplingParams> {
  readonly topLogprobCount?: number;
}

const SETTINGS = {
  greedy: { temperature: 0 },
  'greedy, 20 log probabilities': { temperature: 0, topLogprobCount: 20 },
  plain: { temperature: 1 },
  'top-k 50': { temperature: 0.8, topK: 50 },
  'top-p 0.95': { temperature: 0.8, topP: 0.95 },
  'top-k 50, top-p 0.95, min-p 0.01': { temperature: 0.8, topK: 50, topP: 0.95, minP: 0.01 },
  'top-p 0.95 at temperature 2': { temperature: 2, topP: 0.95 },
} as const;

const sampler = new Sampler(VOCAB_SIZE);
const row = bellCurve();
const work = new Float32Array(VOCAB_SIZE);
const times: Record<string, number[]> = {};
let checksum = 0;
for (let position = 0; position < ROUND_COUNT; position++) {
  for (const [name, { topLogprobCount, ...settings }] of Object.entries<Settings>(SETTINGS)) {
    work.set(row);
    const start = performance.now();
    const { tokenId } = sampler.sample(work, {
      params: { ...NEUTRAL_SAMPLING, ...settings },
      randomKey: counterKey(1n),
      position,
      processors: [],
      output: { outputTokenIds: [], tokenCounts: null },
      topLogprobCount,
    });
    const elapsedMs = performance.now() - start;
    checksum += tokenId;
    times[name] ??= [];
    times[name].push(elapsedMs);
  }
}
const medianMs = Object.fromEntries(
  Object.entries(times).map(([name, values]) => [name, Number(median(values).toFixed(3))]),
);
console.log(
  JSON.stringify(
    { bench: 'sampler', vocabSize: VOCAB_SIZE, medianMs, checksum, ...describeMachine() },
    null,
    2,
  ),
);

/** Sums of uniform numbers from a fixed generator, with twenty tokens lifted out. */
function bellCurve(): Float32Array {
  let state = 1;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const logits = new Float32Array(VOCAB_SIZE);
  for (let id = 0; id < VOCAB_SIZE; id++)
    logits[id] = 2 * (uniform() + uniform() + uniform() + uniform() + uniform() + uniform() - 3) * 1.4;
  for (let i = 0; i < 20; i++) logits[i * 7001]! += 10 + i / 2;
  return logits;
}
