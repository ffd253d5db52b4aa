// Loads a built model with onnxruntime-node's own API and times single decode steps on one thread. The stock API
// copies the cache each step, so the cache is kept short: this measures the graph, not the engine.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  MANIFEST_FILE,
  type ModelManifest,
  pastName,
  SLOTS_INPUT,
  SLOTS_OUTPUT,
} from '@ortler/engine/graph-contract';
import { InferenceSession, Tensor } from 'onnxruntime-node';

const CAPACITY = 16;
const STEP_COUNT = 15;

/** A line with the best and the median step, and the memory of the process. Throws when a logit is not finite. */
export async function measureDecode(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(folder, MANIFEST_FILE), 'utf8')) as ModelManifest;
  const session = await InferenceSession.create(join(folder, manifest.graphFile), { intraOpNumThreads: 1 });
  const feeds: Record<string, Tensor> = {
    [SLOTS_INPUT.inputIds]: new Tensor('int64', BigInt64Array.of(5n), [1, 1]),
    [SLOTS_INPUT.lastPositions]: new Tensor('int32', Int32Array.of(0), [1]),
    [SLOTS_INPUT.totalLength]: new Tensor('int32', Int32Array.of(1), []),
    [SLOTS_INPUT.logitRows]: new Tensor('int64', BigInt64Array.of(0n), [1]),
  };
  const dims = [1, manifest.kvHeadCount, CAPACITY, manifest.headSize];
  const size = dims.reduce((product, dim) => product * dim, 1);
  for (let layer = 0; layer < manifest.layerCount; layer++) {
    for (const part of ['key', 'value'] as const) {
      feeds[pastName(layer, part)] = new Tensor('float32', new Float32Array(size), dims);
    }
  }
  const times: number[] = [];
  for (let step = 0; step < STEP_COUNT; step++) {
    const start = performance.now();
    const results = await session.run(feeds);
    times.push(performance.now() - start);
    const logits = results[SLOTS_OUTPUT.logits]!.data as Float32Array;
    if (!logits.every(Number.isFinite)) throw new Error(`${folder} gives logits that are not finite`);
  }
  await session.release();
  times.sort((a, b) => a - b);
  const mebibytes = Math.round(process.resourceUsage().maxRSS / 1024);
  return `decode step ${times[0]!.toFixed(1)} ms at best, ${times[STEP_COUNT >> 1]!.toFixed(1)} ms median, process ${mebibytes} MiB`;
}
