// How fast a device reads and writes its memory: no decode step can be faster than reading every weight once.

import { GraphWriter } from '@ortler/onnx';
import type { OrtBackend, OrtDevice } from '@ortler/onnxruntime';

/** Unit: elements of four bytes. Far more than caches hold, less than the smallest limit on a buffer. */
const LENGTH = 32 * 2 ** 20;
const RUNS = 16;
const ROUNDS = 4;

/** Best of some rounds of doubling a long tensor. Unit: bytes per second, reads and writes together. */
export async function measureDeviceBandwidth(backend: OrtBackend, device: OrtDevice): Promise<number> {
  const options = { threadCount: 1, spin: false, device } as const;
  const doubling = await backend.createSession(doublingGraph(), options);
  const first = await backend.createSession(firstGraph(), options);
  const source = doubling.allocate('float32', [LENGTH]);
  const target = doubling.allocate('float32', [LENGTH]);
  const one = backend.createTensor('float32', [1], new Float32Array(1));
  const double = doubling.bind(new Map([['x', source]]), new Map([['y', target]]));
  // What comes back to the process has waited for everything before it.
  const wait = first.bind(new Map([['x', target]]), new Map([['y', one]]));
  let best = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    for (let run = 0; run < RUNS; run++) await double.run();
    await wait.run();
    const seconds = (performance.now() - start) / 1000;
    // The first round compiles.
    if (round > 0) best = Math.max(best, (RUNS * 2 * 4 * LENGTH) / seconds);
  }
  for (const value of [source, target, one]) value.dispose();
  doubling.dispose();
  first.dispose();
  return best;
}

function doublingGraph(): Uint8Array {
  const graph = new GraphWriter('bandwidth');
  const x = graph.input('x', 'float32', [LENGTH]);
  graph.output('y', graph.add(x, x), 'float32', [LENGTH]);
  return graph.encode();
}

function firstGraph(): Uint8Array {
  const graph = new GraphWriter('first');
  const x = graph.input('x', 'float32', [LENGTH]);
  graph.output('y', graph.op('Slice', [x, graph.int64(0), graph.int64(1), graph.int64(0)]), 'float32', [1]);
  return graph.encode();
}
