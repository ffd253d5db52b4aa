// How long the sampler takes for the rows of a step over a large vocabulary, by settings: with the WebAssembly loops,
// with the plain ones, and beside them an ONNX session that does only the first part of the work (the 64 best logits
// and the logarithm of the sum of exponentials). All take turns; the two samplers must draw the same tokens.
//
//     node --conditions=@ortler/source bench/engine/sampler.bench.ts

import { parseArgs } from 'node:util';
import type { SamplingParams } from '@ortler/engine';
import { counterKey, NEUTRAL_SAMPLING, PlainKernels, Sampler } from '@ortler/engine/testing';
import { encodeGraph } from '@ortler/onnx';
import { selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { rounded } from '../rounded.ts';
import { createLargeLogits, LARGE_VOCAB_SIZE, type LogitsShape } from './large-logits.ts';

const BEST_COUNT = 64;

interface Settings extends Partial<SamplingParams> {
  readonly topLogprobCount?: number;
}

const SETTINGS: Readonly<Record<string, Settings>> = {
  greedy: { temperature: 0 },
  'greedy, 20 log probabilities': { temperature: 0, topLogprobCount: 20 },
  'temperature 1': { temperature: 1 },
  'top-k 50': { temperature: 0.8, topK: 50 },
  'top-p 0.95': { temperature: 0.8, topP: 0.95 },
  'top-k 50, top-p 0.95, min-p 0.01': { temperature: 0.8, topK: 50, topP: 0.95, minP: 0.01 },
  'top-p 0.95 at temperature 2': { temperature: 2, topP: 0.95 },
};

/** Draws for all rows of `logits` and gives their tokens. */
function drawRows(sampler: Sampler, logits: Float32Array, settings: Settings, position: number): number[] {
  const { topLogprobCount, ...params } = settings;
  const tokenIds: number[] = [];
  for (let start = 0; start < logits.length; start += LARGE_VOCAB_SIZE) {
    const { tokenId } = sampler.sample(logits.subarray(start, start + LARGE_VOCAB_SIZE), {
      params: { ...NEUTRAL_SAMPLING, ...params },
      randomKey: counterKey(BigInt(start)),
      position,
      processors: [],
      output: { outputTokenIds: [], tokenCounts: null },
      topLogprobCount,
    });
    tokenIds.push(tokenId);
  }
  return tokenIds;
}

/** The ONNX session on these rows; each call of what it returns is one run. */
async function createOnnxRun(logits: Float32Array, threadCount: number): Promise<() => Promise<void>> {
  const { backend } = await selectBackend('native');
  const rowCount = logits.length / LARGE_VOCAB_SIZE;
  const graph = encodeGraph({
    inputs: [
      { name: 'logits', type: 'float32', shape: ['rows', LARGE_VOCAB_SIZE] },
      { name: 'count', type: 'int64', shape: [1] },
      { name: 'axis', type: 'int64', shape: [1] },
    ],
    outputs: [
      { name: 'best', type: 'float32', shape: ['rows', BEST_COUNT] },
      { name: 'ids', type: 'int64', shape: ['rows', BEST_COUNT] },
      { name: 'normalizer', type: 'float32', shape: ['rows', 1] },
    ],
    nodes: [
      { opType: 'TopK', inputs: ['logits', 'count'], outputs: ['best', 'ids'], integers: { axis: 1 } },
      { opType: 'ReduceLogSumExp', inputs: ['logits', 'axis'], outputs: ['normalizer'] },
    ],
  });
  const session = await backend.createSession(graph, { threadCount, spin: false });
  const bestShape = [rowCount, BEST_COUNT];
  const bestLength = rowCount * BEST_COUNT;
  const binding = session.bind(
    new Map([
      ['logits', backend.createTensor('float32', [rowCount, LARGE_VOCAB_SIZE], logits)],
      ['count', backend.createTensor('int64', [1], BigInt64Array.of(BigInt(BEST_COUNT)))],
      ['axis', backend.createTensor('int64', [1], BigInt64Array.of(1n))],
    ]),
    new Map([
      ['best', backend.createTensor('float32', bestShape, new Float32Array(bestLength))],
      ['ids', backend.createTensor('int64', bestShape, new BigInt64Array(bestLength))],
      ['normalizer', backend.createTensor('float32', [rowCount, 1], new Float32Array(rowCount))],
    ]),
  );
  return () => binding.run();
}

/** Median and least milliseconds, by contestant and settings. */
async function measure(shape: LogitsShape, rowCount: number, roundCount: number) {
  const logits = createLargeLogits(shape, rowCount);
  const wasm = new Sampler(LARGE_VOCAB_SIZE);
  const plain = new Sampler(LARGE_VOCAB_SIZE, new PlainKernels(LARGE_VOCAB_SIZE));
  const onnx1 = await createOnnxRun(logits, 1);
  const onnx2 = await createOnnxRun(logits, 2);
  const times = new Map<string, number[]>();
  const time = async <Result>(name: string, run: () => Result): Promise<Awaited<Result>> => {
    const startMs = performance.now();
    const result = await run();
    const elapsedMs = performance.now() - startMs;
    times.set(name, [...(times.get(name) ?? []), elapsedMs]);
    return result;
  };
  for (let round = 0; round < roundCount; round++) {
    for (const [name, settings] of Object.entries(SETTINGS)) {
      const fast = await time(`wasm: ${name}`, () => drawRows(wasm, logits, settings, round));
      const slow = await time(`plain: ${name}`, () => drawRows(plain, logits, settings, round));
      if (fast.join() !== slow.join()) throw new Error(`Other tokens: ${name}, round ${round}.`);
    }
    await time('onnx, 1 thread: 64 best and sum', onnx1);
    await time('onnx, 2 threads: 64 best and sum', onnx2);
  }
  return Object.fromEntries(
    [...times].map(([name, values]) => [name, [rounded(median(values)), rounded(Math.min(...values))]]),
  );
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, help: { type: 'boolean', default: false } },
});
if (values.help) console.log('npm run bench -- sampler [--rounds 20]');
else {
  const roundCount = Number(values.rounds);
  const medianAndLeastMs: Record<string, unknown> = {};
  for (const shape of ['peaked', 'flat'] as const) {
    for (const rowCount of [1, 8])
      medianAndLeastMs[`${shape}, ${rowCount} rows`] = await measure(shape, rowCount, roundCount);
  }
  const result = { bench: 'sampler', vocabSize: LARGE_VOCAB_SIZE, roundCount, medianAndLeastMs };
  console.log(JSON.stringify({ ...result, ...describeMachine() }, null, 2));
}
