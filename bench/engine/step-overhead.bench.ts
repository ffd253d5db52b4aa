// What a decode step costs besides the model call: planning, sampling, commit and the message to the text side, over a
// large vocabulary. The runner returns logits that were prepared before, at once, so all time is the engine's.
//
//     node --conditions=source bench/engine/step-overhead.bench.ts

import { parseArgs } from 'node:util';
import type { SamplingParams } from '@ortler/engine';
import {
  EngineCore,
  type ModelRunner,
  NEUTRAL_SAMPLING,
  type RunnerFacts,
  type RunnerRow,
} from '@ortler/engine/testing';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { createLargeLogits, LARGE_VOCAB_SIZE } from './large-logits.ts';

const PROMPT_LENGTH = 32;
const CONTEXT_LENGTH = 4096;

interface Settings extends Partial<SamplingParams> {
  readonly topCount?: number;
}

const SETTINGS: Readonly<Record<string, Settings>> = {
  greedy: { temperature: 0 },
  'greedy, 20 log probabilities': { temperature: 0, topCount: 20 },
  'temperature 1': { temperature: 1 },
  'temperature 0.7, top-p 0.8, top-k 20, repetition penalty 1.1': {
    temperature: 0.7,
    topP: 0.8,
    topK: 20,
    repetitionPenalty: 1.1,
  },
  'temperature 0.8, top-p 0.95': { temperature: 0.8, topP: 0.95 },
};

/** Returns the same logits for every call. */
class PreparedRunner implements ModelRunner {
  readonly facts: RunnerFacts;
  readonly #logits: Float32Array;

  constructor(batchSize: number) {
    this.#logits = createLargeLogits('peaked', batchSize);
    this.facts = {
      kind: 'scripted',
      vocabSize: LARGE_VOCAB_SIZE,
      contextLength: CONTEXT_LENGTH,
      slotCount: batchSize,
      logitsLimit: batchSize,
      backend: 'node',
      device: 'cpu',
      onnxRuntimeVersion: 'none',
    };
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    const count = rows.reduce((sum, { logitsCount }) => sum + logitsCount, 0);
    return this.#logits.subarray(0, count * LARGE_VOCAB_SIZE);
  }

  copySlot(): void {}
  swapSlots(): void {}
  async close(): Promise<void> {}
}

/** A core that decodes `batchSize` sequences with these settings and goes on doing so. */
async function createDecodingCore(batchSize: number, { topCount, ...params }: Settings): Promise<EngineCore> {
  const core = new EngineCore(new PreparedRunner(batchSize), {
    maxSequences: batchSize,
    prefixCaching: false,
    prefillChunkLength: PROMPT_LENGTH,
    maxQueuedSequences: batchSize,
  });
  for (let requestId = 0; requestId < batchSize; requestId++) {
    core.submit({
      kind: 'submit',
      requestId,
      promptTokenIds: Int32Array.from({ length: PROMPT_LENGTH }, (_, index) => index + requestId),
      choiceCount: 1,
      sampling: { ...NEUTRAL_SAMPLING, ...params, seed: BigInt(requestId) },
      maxTokens: CONTEXT_LENGTH - PROMPT_LENGTH,
      minTokens: 0,
      eosTokenIds: [],
      stopTokenIds: [],
      minTokensBannedIds: [],
      ...(topCount === undefined ? {} : { logprobs: { topCount } }),
    });
  }
  for (let step = 0; step < 4 * batchSize; step++) await core.step();
  return core;
}

const { values } = parseArgs({
  options: {
    batches: { type: 'string', default: '1,8' },
    turns: { type: 'string', default: '10' },
    steps: { type: 'string', default: '20' },
  },
});
const [turnCount, stepCount] = [Number(values.turns), Number(values.steps)];
const cases: Record<
  string,
  { readonly cpuMs: number; readonly stepMs: number; readonly leastMs: number; readonly messageMs: number }
> = {};
for (const batchSize of values.batches.split(',').map(Number)) {
  const contestants: {
    name: string;
    core: EngineCore;
    stepTimes: number[];
    messageTimes: number[];
    cpuTimes: number[];
  }[] = [];
  for (const [name, settings] of Object.entries(SETTINGS)) {
    const core = await createDecodingCore(batchSize, settings);
    contestants.push({ name, core, stepTimes: [], messageTimes: [], cpuTimes: [] });
  }
  for (let turn = 0; turn < turnCount; turn++) {
    for (const { core, stepTimes, messageTimes, cpuTimes } of contestants) {
      const cpuBefore = process.cpuUsage();
      for (let step = 0; step < stepCount; step++) {
        const startMs = performance.now();
        const outputs = await core.step();
        const steppedMs = performance.now();
        // What a link to another thread or process does with them.
        structuredClone(outputs);
        stepTimes.push(steppedMs - startMs);
        messageTimes.push(performance.now() - steppedMs);
        const [message] = outputs;
        if (message?.kind !== 'step' || message.updates.length !== batchSize)
          throw new Error(`Not every sequence got a token: ${JSON.stringify(message)}`);
      }
      // What stays comparable when other programs want the cores as well.
      const cpu = process.cpuUsage(cpuBefore);
      cpuTimes.push((cpu.user + cpu.system) / 1000 / stepCount);
    }
  }
  for (const { name, core, stepTimes, messageTimes, cpuTimes } of contestants) {
    await core.close();
    cases[`${batchSize} sequences: ${name}`] = {
      cpuMs: Number(median(cpuTimes).toFixed(3)),
      stepMs: Number(median(stepTimes).toFixed(3)),
      leastMs: Number(Math.min(...stepTimes).toFixed(3)),
      messageMs: Number(median(messageTimes).toFixed(3)),
    };
  }
}
const result = { bench: 'step-overhead', vocabSize: LARGE_VOCAB_SIZE, turnCount, stepCount, cases };
console.log(JSON.stringify({ ...result, ...describeMachine() }, null, 2));
