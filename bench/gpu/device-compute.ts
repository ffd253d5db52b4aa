// How many operations a device computes in a second in products of float16 matrices, the most that a prompt can use of it.

import { GraphWriter } from '@ortler/onnx';
import type { OrtBackend, OrtDevice } from '@ortler/onnxruntime';

const FIRST_SIZE = 512;
const LARGEST_SIZE = 8192;
/** Products of this time are long enough for the device to be busy. */
const LONG_ENOUGH_MS = 50;
const RUNS = 4;

/** Best of products of ever larger square matrices. Unit: operations per second, two for each multiplication with its sum. */
export async function measureDeviceCompute(backend: OrtBackend, device: OrtDevice): Promise<number> {
  let best = 0;
  for (let size = FIRST_SIZE; size <= LARGEST_SIZE; size *= 2) {
    const milliseconds = await timeProducts(backend, device, size);
    best = Math.max(best, (RUNS * 2 * size ** 3 * 1000) / milliseconds);
    if (milliseconds > RUNS * LONG_ENOUGH_MS) break;
  }
  return best;
}

/** Of `RUNS` products. */
async function timeProducts(backend: OrtBackend, device: OrtDevice, size: number): Promise<number> {
  const session = await backend.createSession(productGraph(size), { threadCount: 1, spin: false, device });
  const values = ['a', 'b', 'y'].map(() => session.allocate('float16', [size, size]));
  const corner = backend.createTensor('float16', [1, 1], new Uint16Array(1));
  const [a, b, y] = values as [(typeof values)[0], (typeof values)[0], (typeof values)[0]];
  const product = session.bind(
    new Map([
      ['a', a],
      ['b', b],
    ]),
    new Map([
      ['y', y],
      ['corner', corner],
    ]),
  );
  // The first run compiles. The corner comes back to the process, so that each run waits for its product.
  await product.run();
  const start = performance.now();
  for (let run = 0; run < RUNS; run++) await product.run();
  const milliseconds = performance.now() - start;
  for (const value of [...values, corner]) value.dispose();
  session.dispose();
  return milliseconds;
}

function productGraph(size: number): Uint8Array {
  const graph = new GraphWriter('product');
  const dims = [size, size];
  const y = graph.op('MatMul', [graph.input('a', 'float16', dims), graph.input('b', 'float16', dims)]);
  graph.output('y', y, 'float16', dims);
  const zeros = graph.int64(0, 0);
  graph.output(
    'corner',
    graph.op('Slice', [y, zeros, graph.int64(1, 1), graph.int64(0, 1)]),
    'float16',
    [1, 1],
  );
  return graph.encode();
}
