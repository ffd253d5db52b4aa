// The time of one decode step, native binding against onnxruntime-node's own API, on a model of SmolLM2-135M's
// shape with random 4-bit weights. Both run in turn within the same minutes, so that the load of the machine
// meets both; logits are compared first, and a difference ends the benchmark.
//
//     node --conditions=source bench/engine/decode-step.bench.ts --help

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  createSlotsRunner,
  type ModelRunner,
  type RunnerRow,
  readManifest,
  selectBackend,
} from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';

/** SmolLM2-135M's config.json, with twice its context so that capacities can be compared. */
const SHAPE = {
  hidden_size: 576,
  intermediate_size: 1536,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  head_dim: 64,
  vocab_size: 49_152,
  max_position_embeddings: 16_384,
  rms_norm_eps: 1e-5,
  rope_theta: 100_000,
};

/** Tokens that every sequence has before the step: a mid-sized chat. */
const CONTEXT = 300;
const PREFILL_CHUNK = 100;

const HELP = `Options:
  --model FOLDER      a built model to use instead of the random one
  --capacities LIST   tokens per cache slot (default 1024,4096)
  --batches LIST      sequences per step (default 1,8)
  --threads N         threads of a model call (default 2)
  --pairs N           turns of each binding (default 8)
  --steps N           measured steps of a turn (default 5)`;

interface Options {
  readonly threadCount: number;
  readonly pairCount: number;
  readonly stepCount: number;
}

interface Case {
  readonly capacity: number;
  readonly batch: number;
  readonly nativeMs: number;
  readonly nodeMs: number;
  /** Median over the pairs of node's time by native's. */
  readonly ratio: number;
  readonly nativeTokensPerSecond: number;
  readonly nodeTokensPerSecond: number;
  /** Resident memory with the native runner alone, its cache allocated and one batch of contexts computed. */
  readonly nativeResidentMb: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      model: { type: 'string' },
      capacities: { type: 'string', default: '1024,4096' },
      batches: { type: 'string', default: '1,8' },
      threads: { type: 'string', default: '2' },
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
    threadCount: toCount('threads', values.threads),
    pairCount: toCount('pairs', values.pairs),
    stepCount: toCount('steps', values.steps),
  };
  const scratch = await mkdtemp(join(tmpdir(), 'ortler-bench-'));
  try {
    const modelDir = values.model ?? (await buildRandomModel(scratch));
    const cases: Case[] = [];
    for (const capacity of values.capacities.split(',').map(value => toCount('capacities', value))) {
      for (const batch of values.batches.split(',').map(value => toCount('batches', value))) {
        console.error(`capacity ${capacity}, batch ${batch} ...`);
        cases.push(await measure(modelDir, capacity, batch, options));
      }
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
  await createTinyCheckpoint(sourceDir, { weightType: 'BF16', config: SHAPE });
  await buildModel({ sourceDir, outputDir, precision: 'q4' });
  return outputDir;
}

async function measure(modelDir: string, capacity: number, batch: number, options: Options): Promise<Case> {
  const native = await createFilledRunner(modelDir, 'native', capacity, batch, options.threadCount);
  const nativeResidentMb = Math.round(process.memoryUsage.rss() / 2 ** 20);
  const node = await createFilledRunner(modelDir, 'node', capacity, batch, options.threadCount);
  try {
    const rows = decodeRows(batch);
    checkEqual(await native.run(rows), await node.run(rows));
    const pairs: { readonly nativeMs: number; readonly nodeMs: number }[] = [];
    for (let pair = 0; pair < options.pairCount; pair++) {
      const nativeMs = await timeSteps(native, rows, options.stepCount);
      pairs.push({ nativeMs, nodeMs: await timeSteps(node, rows, options.stepCount) });
    }
    const nativeMs = median(pairs.map(pair => pair.nativeMs));
    const nodeMs = median(pairs.map(pair => pair.nodeMs));
    return {
      capacity,
      batch,
      nativeMs: round(nativeMs),
      nodeMs: round(nodeMs),
      ratio: round(median(pairs.map(pair => pair.nodeMs / pair.nativeMs))),
      nativeTokensPerSecond: Math.round((1000 * batch) / nativeMs),
      nodeTokensPerSecond: Math.round((1000 * batch) / nodeMs),
      nativeResidentMb,
    };
  } finally {
    await native.close();
    await node.close();
  }
}

/** A runner whose first `batch` slots hold the context. */
async function createFilledRunner(
  modelDir: string,
  backendName: 'native' | 'node',
  capacity: number,
  batch: number,
  threadCount: number,
): Promise<ModelRunner> {
  const { backend } = await selectBackend(backendName);
  const runner = await createSlotsRunner(backend, modelDir, await readManifest(modelDir), {
    slotCount: batch,
    contextLength: capacity,
    threadCount,
    spin: true,
  });
  const { vocabSize } = runner.facts;
  const context = Int32Array.from({ length: CONTEXT }, (_, i) => (i * 7919) % vocabSize);
  for (let start = 0; start < CONTEXT; start += PREFILL_CHUNK) {
    const tokenIds = context.subarray(start, start + PREFILL_CHUNK);
    await runner.run([{ slot: 0, tokenIds, computedLength: start, needsLogits: false }]);
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
    needsLogits: true,
  }));
}

/** Median of some steps after one that is not counted, which brings the caches back from the other binding. */
async function timeSteps(runner: ModelRunner, rows: readonly RunnerRow[], count: number): Promise<number> {
  await runner.run(rows);
  const times: number[] = [];
  for (let step = 0; step < count; step++) {
    const start = performance.now();
    await runner.run(rows);
    times.push(performance.now() - start);
  }
  return median(times);
}

function checkEqual(native: Float32Array, node: Float32Array): void {
  const index = native.findIndex((logit, i) => logit !== node[i]);
  if (index >= 0 || native.length !== node.length)
    throw new Error(
      `Logits differ at ${index}: ${native[index]} through native, ${node[index]} through node.`,
    );
  if (native.every(logit => logit === native[0])) throw new Error('All logits are the same.');
}

function toCount(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes whole numbers; got "${text}".`);
  return value;
}

function round(value: number): number {
  return Number(value.toFixed(2));
}

await main();
