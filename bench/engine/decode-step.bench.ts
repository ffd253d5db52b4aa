// The time of one decode step, native binding against onnxruntime-node's own API, on a model of SmolLM2-135M's
// shape with random 4-bit weights. All capacities and bindings of a batch size take turns, so that the load of the
// machine meets them alike; logits are compared first, and a difference ends the benchmark.
//
//     node --conditions=@ortler/source bench/engine/decode-step.bench.ts --help

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  createSlotsRunner,
  type RunnerRow,
  readManifest,
  type SlotModelRunner,
} from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { MODEL_SHAPES } from '../model-shapes.ts';
import { readCount } from '../read-count.ts';
import { rounded } from '../rounded.ts';

/** Tokens that the model takes: twice as many as SmolLM2-135M, so that capacities can be compared. */
const LONGEST_CONTEXT = 16_384;

/** Tokens that every sequence has before the step: a mid-sized chat. */
const CONTEXT = 300;
const PREFILL_CHUNK = 100;

const HELP = `Options:
  --model FOLDER      a built model to use instead of the random one
  --capacities LIST   tokens per cache slot (default 1024,4096)
  --batches LIST      sequences per step (default 1,8)
  --threads N         threads of a model call (default 2)
  --no-spin           let threads sleep between operators
  --pairs N           turns of each capacity and binding (default 8)
  --steps N           measured steps of a turn (default 5)`;

interface Options {
  readonly threadCount: number;
  readonly spin: boolean;
  readonly pairCount: number;
  readonly stepCount: number;
}

/** Milliseconds of one step. */
interface StepTime {
  readonly wallMs: number;
  /** Processor time of all threads: what stays comparable when other programs want the cores as well. */
  readonly cpuMs: number;
}

interface Case {
  readonly capacity: number;
  readonly batch: number;
  /** Medians over the turns. */
  readonly native: StepTime;
  readonly node: StepTime;
  /** Median over the turns of node's wall time by native's of the same turn. */
  readonly ratio: number;
  readonly nativeStepsPerSecond: number;
  readonly nodeStepsPerSecond: number;
}

/** The runners of one capacity and what they measured so far. */
interface Contestants {
  readonly capacity: number;
  readonly native: SlotModelRunner;
  readonly node: SlotModelRunner;
  readonly turns: { readonly native: StepTime; readonly node: StepTime }[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      model: { type: 'string' },
      capacities: { type: 'string', default: '1024,4096' },
      batches: { type: 'string', default: '1,8' },
      threads: { type: 'string', default: '2' },
      'no-spin': { type: 'boolean', default: false },
      pairs: { type: 'string', default: '8' },
      steps: { type: 'string', default: '5' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const options = {
    threadCount: readCount('threads', values.threads),
    spin: !values['no-spin'],
    pairCount: readCount('pairs', values.pairs),
    stepCount: readCount('steps', values.steps),
  };
  const scratch = await mkdtemp(join(tmpdir(), 'ortler-bench-'));
  try {
    const modelDir = values.model ?? (await buildRandomModel(scratch));
    const cases: Case[] = [];
    const capacities = values.capacities.split(',').map(value => readCount('capacities', value));
    for (const batch of values.batches.split(',').map(value => readCount('batches', value))) {
      console.error(`batch ${batch} ...`);
      cases.push(...(await measure(modelDir, capacities, batch, options)));
    }
    const { version } = (await selectBackend('native')).backend;
    const { precision, layerCount, hiddenSize, vocabSize } = await readManifest(modelDir);
    const model = { precision, layerCount, hiddenSize, vocabSize };
    const result = { bench: 'decode-step', model, context: CONTEXT, onnxRuntime: version, ...options, cases };
    console.log(JSON.stringify({ ...result, ...describeMachine() }, null, 2));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function buildRandomModel(scratch: string): Promise<string> {
  console.error('building a random model of SmolLM2-135M shape ...');
  const sourceDir = join(scratch, 'checkpoint');
  const outputDir = join(scratch, 'model');
  const { config } = MODEL_SHAPES['smollm2-135m'];
  await createTinyCheckpoint(sourceDir, {
    weightType: 'BF16',
    config: { ...config, max_position_embeddings: LONGEST_CONTEXT },
  });
  await buildModel({ sourceDir, outputDir, precision: 'q4' });
  return outputDir;
}

async function measure(
  modelDir: string,
  capacities: readonly number[],
  batch: number,
  options: Options,
): Promise<Case[]> {
  const contestants: Contestants[] = [];
  for (const capacity of capacities) {
    const native = await createFilledRunner(modelDir, 'native', capacity, batch, options);
    const node = await createFilledRunner(modelDir, 'node', capacity, batch, options);
    contestants.push({ capacity, native, node, turns: [] });
  }
  const rows = decodeRows(batch);
  const expected = (await contestants[0]!.native.run(rows)).slice();
  for (const { native, node } of contestants) {
    checkEqual(await native.run(rows), expected);
    checkEqual(await node.run(rows), expected);
  }
  for (let turn = 0; turn < options.pairCount; turn++) {
    for (const { native, node, turns } of contestants) {
      const nativeTime = await timeSteps(native, rows, options.stepCount);
      turns.push({ native: nativeTime, node: await timeSteps(node, rows, options.stepCount) });
    }
  }
  for (const { native, node } of contestants) {
    await native.close();
    await node.close();
  }
  return contestants.map(contestant => toCase(contestant, batch));
}

function toCase({ capacity, turns }: Contestants, batch: number): Case {
  const of = (name: 'native' | 'node'): StepTime => ({
    wallMs: rounded(median(turns.map(turn => turn[name].wallMs))),
    cpuMs: rounded(median(turns.map(turn => turn[name].cpuMs))),
  });
  const native = of('native');
  const node = of('node');
  return {
    capacity,
    batch,
    native,
    node,
    ratio: rounded(median(turns.map(turn => turn.node.wallMs / turn.native.wallMs))),
    nativeStepsPerSecond: rounded(1000 / native.wallMs),
    nodeStepsPerSecond: rounded(1000 / node.wallMs),
  };
}

/** A runner whose first `batch` slots hold the context. */
async function createFilledRunner(
  modelDir: string,
  backendName: 'native' | 'node',
  capacity: number,
  batch: number,
  { threadCount, spin }: Options,
): Promise<SlotModelRunner> {
  const { backend } = await selectBackend(backendName);
  const runner = await createSlotsRunner(backend, modelDir, await readManifest(modelDir), {
    slotCount: batch,
    contextLength: capacity,
    threadCount,
    spin,
  });
  const { vocabSize } = runner.facts;
  const context = Int32Array.from({ length: CONTEXT }, (_, i) => (i * 7919) % vocabSize);
  for (let start = 0; start < CONTEXT; start += PREFILL_CHUNK) {
    const tokenIds = context.subarray(start, start + PREFILL_CHUNK);
    await runner.run([{ slot: 0, tokenIds, computedLength: start, logitsCount: 0 }]);
  }
  for (let slot = 1; slot < batch; slot++) runner.copySlot(0, slot, CONTEXT);
  return runner;
}

/** One decode per slot, with different tokens; running it again computes the same again. */
function decodeRows(batch: number): RunnerRow[] {
  return Array.from({ length: batch }, (_, slot) => ({
    slot,
    tokenIds: Int32Array.of(100 + slot),
    computedLength: CONTEXT,
    logitsCount: 1,
  }));
}

/** Median of some steps after one that is not counted, which brings the caches back from the one before. */
async function timeSteps(
  runner: SlotModelRunner,
  rows: readonly RunnerRow[],
  count: number,
): Promise<StepTime> {
  await runner.run(rows);
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (let step = 0; step < count; step++) {
    const start = performance.now();
    await runner.run(rows);
    times.push(performance.now() - start);
  }
  const cpu = process.cpuUsage(cpuBefore);
  return { wallMs: median(times), cpuMs: (cpu.user + cpu.system) / 1000 / count };
}

function checkEqual(actual: Float32Array, expected: Float32Array): void {
  const index = actual.findIndex((logit, i) => logit !== expected[i]);
  if (index >= 0 || actual.length !== expected.length)
    throw new Error(`Logits differ at ${index}: ${actual[index]} and ${expected[index]}.`);
  if (actual.every(logit => logit === actual[0])) throw new Error('All logits are the same.');
}

await main();
