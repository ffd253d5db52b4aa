// Overhead of a decode step besides the model call: planning, sampling, commit and the message to the text side, over a
// large vocabulary. The runner returns logits that were prepared before, at once, so all time is the engine's; with
// `--model FOLDER` a built model computes them, and the time of its calls is told apart.

import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { SamplingParams } from '@ortler/engine';
import {
  allocateRows,
  createSlotsRunner,
  EngineCore,
  HostStepRunner,
  NEUTRAL_SAMPLING,
  type RunnerFacts,
  type RunnerRow,
  readManifest,
  SamplingThreads,
  type SlotModelRunner,
} from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { rounded } from '../rounded.ts';
import { createLargeLogits, LARGE_VOCAB_SIZE, type LogitsShape } from './large-logits.ts';

const PROMPT_LENGTH = 32;
const CONTEXT_LENGTH = 4096;

interface Settings extends Partial<SamplingParams> {
  readonly topCount?: number;
}

const SETTINGS: Readonly<Record<string, Settings>> = {
  greedy: { temperature: 0 },
  'greedy, 20 log probabilities': { temperature: 0, topCount: 20 },
  'greedy, 5 log probabilities': { temperature: 0, topCount: 5 },
  'temperature 1': { temperature: 1 },
  'temperature 1, top-p 0.9, top-k 50': { temperature: 1, topP: 0.9, topK: 50 },
  'temperature 0.7, top-p 0.8, top-k 20, repetition penalty 1.1': {
    temperature: 0.7,
    topP: 0.8,
    topK: 20,
    repetitionPenalty: 1.1,
  },
  'temperature 0.8, top-p 0.95': { temperature: 0.8, topP: 0.95 },
};

/** Returns the same logits for every call. */
class PreparedRunner implements SlotModelRunner {
  readonly cacheKind = 'slots';
  readonly facts: RunnerFacts;
  readonly #logits: Float32Array;

  constructor(batchSize: number, shape: LogitsShape) {
    const logits = createLargeLogits(shape, batchSize);
    // Where those of a model lie too, so that all sampling threads read them in place.
    this.#logits = allocateRows(logits.length);
    this.#logits.set(logits);
    this.facts = {
      kind: 'scripted',
      vocabSize: LARGE_VOCAB_SIZE,
      contextLength: CONTEXT_LENGTH,
      slotCount: batchSize,
      logitsLimit: batchSize,
      backend: 'node',
      device: 'cpu',
      onnxRuntimeVersion: 'none',
      cacheBytes: 0,
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

/** Adds up the time of the model's calls. */
class TimedRunner implements SlotModelRunner {
  readonly cacheKind = 'slots';
  readonly rings: SlotModelRunner['rings'];
  readonly facts: RunnerFacts;
  readonly #runner: SlotModelRunner;
  runMs = 0;

  constructor(runner: SlotModelRunner) {
    this.#runner = runner;
    this.facts = runner.facts;
    this.rings = runner.rings;
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    const startMs = performance.now();
    const logits = await this.#runner.run(rows);
    this.runMs += performance.now() - startMs;
    return logits;
  }

  copySlot(from: number, to: number, length: number): void {
    this.#runner.copySlot(from, to, length);
  }

  swapSlots(a: number, b: number, length: number): void {
    this.#runner.swapSlots(a, b, length);
  }

  close(): Promise<void> {
    return this.#runner.close();
  }
}

async function createRunner(modelDir: string | undefined, batchSize: number): Promise<TimedRunner> {
  if (modelDir === undefined) return new TimedRunner(new PreparedRunner(batchSize, logitsShape));
  const { backend } = await selectBackend('native');
  const options = {
    slotCount: batchSize,
    contextLength: 512,
    threadCount: 2,
    spin: true,
  };
  return new TimedRunner(await createSlotsRunner(backend, modelDir, await readManifest(modelDir), options));
}

/** Milliseconds of one step. */
interface StepCost {
  /** Median of the model call. */
  readonly modelMs: number;
  /** Median and least of all else until the messages are there. */
  readonly otherMs: number;
  readonly minOtherMs: number;
  /** Median of copying the messages, as a link to another thread or process does. */
  readonly messageMs: number;
  /** Processor time of all, the model's included: what stays comparable when other programs want the cores as well. */
  readonly cpuMs: number;
}

async function measure(core: EngineCore, runner: TimedRunner, batchSize: number): Promise<StepCost> {
  const [modelTimes, otherTimes, messageTimes]: [number[], number[], number[]] = [[], [], []];
  const cpuBefore = process.cpuUsage();
  for (let step = 0; step < stepCount; step++) {
    runner.runMs = 0;
    const startMs = performance.now();
    const outputs = await core.step();
    const steppedMs = performance.now();
    structuredClone(outputs);
    messageTimes.push(performance.now() - steppedMs);
    modelTimes.push(runner.runMs);
    otherTimes.push(steppedMs - startMs - runner.runMs);
    const [message] = outputs;
    if (message?.kind !== 'step' || message.updates.length !== batchSize)
      throw new Error(`Not every sequence got a token: ${JSON.stringify(message)}`);
  }
  const cpu = process.cpuUsage(cpuBefore);
  return {
    modelMs: rounded(median(modelTimes)),
    otherMs: rounded(median(otherTimes)),
    minOtherMs: rounded(Math.min(...otherTimes)),
    messageMs: rounded(median(messageTimes)),
    cpuMs: rounded((cpu.user + cpu.system) / 1000 / stepCount),
  };
}

/** A core that decodes `batchSize` sequences with these settings and goes on doing so. */
async function createDecodingCore(
  runner: TimedRunner,
  { topCount, ...params }: Settings,
): Promise<EngineCore> {
  const { slotCount: batchSize, contextLength } = runner.facts;
  const threads = new SamplingThreads({ threadCount: samplingThreadCount - 1 });
  const core = new EngineCore(new HostStepRunner(runner, threads), {
    maxSequences: batchSize,
    prefixCaching: false,
    prefillChunkLength: PROMPT_LENGTH,
    // Every step gives one token of each sequence, whatever the model says.
    drafter: null,
    maxQueuedSequences: batchSize,
  });
  for (let requestId = 0; requestId < batchSize; requestId++) {
    core.submit({
      kind: 'submit',
      requestId,
      promptTokenIds: Int32Array.from({ length: PROMPT_LENGTH }, (_, index) => index + requestId),
      choiceCount: 1,
      sampling: { ...NEUTRAL_SAMPLING, ...params, seed: BigInt(requestId) },
      maxTokens: contextLength - PROMPT_LENGTH,
      minTokens: 0,
      eosTokenIds: [],
      stopTokenIds: [],
      minTokensBannedIds: [],
      ...(topCount === undefined ? {} : { logprobs: { topCount } }),
    });
  }
  for (let step = 0; step < 4 * batchSize; step++) await core.step();
  // Threads start while steps go on; all are there when it is measured.
  await setTimeout(500);
  return core;
}

const HELP = `Options:
  --model FOLDER   a built model computes the logits (default: logits that were prepared before)
  --logits SHAPE   of prepared ones: peaked, or flat as random weights give them (default peaked)
  --batches LIST   sequences at once (default 1,8)
  --steps N        steps of each case (default 100)
  --sampling-threads N   threads that sample rows (default 2)`;

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    batches: { type: 'string', default: '1,8' },
    steps: { type: 'string', default: '100' },
    'sampling-threads': { type: 'string', default: '2' },
    logits: { type: 'string', default: 'peaked' },
    help: { type: 'boolean', default: false },
  },
});
const stepCount = Number(values.steps);
const samplingThreadCount = Number(values['sampling-threads']);
const logitsShape: LogitsShape = values.logits === 'flat' ? 'flat' : 'peaked';
if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const cases: Record<string, StepCost> = {};
  let vocabSize = 0;
  for (const batchSize of values.batches.split(',').map(Number)) {
    for (const [name, settings] of Object.entries(SETTINGS)) {
      const runner = await createRunner(values.model, batchSize);
      const core = await createDecodingCore(runner, settings);
      cases[`${batchSize} sequences: ${name}`] = await measure(core, runner, batchSize);
      vocabSize = runner.facts.vocabSize;
      await core.close();
    }
  }
  const result = {
    bench: 'step-overhead',
    vocabSize,
    model: values.model !== undefined,
    logits: values.model === undefined ? logitsShape : null,
    stepCount,
    samplingThreadCount,
    cases,
  };
  console.log(JSON.stringify({ ...result, ...describeMachine() }, null, 2));
}
