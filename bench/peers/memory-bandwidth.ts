// How fast this machine reads memory: no decode step can be faster than reading every weight once.

import { Worker } from 'node:worker_threads';

const BUFFER_BYTES = 1 << 28;
const ROUNDS = 5;

// A search for a byte that is not there is a read of the whole buffer at the speed of the C library.
const READER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const buffer = Buffer.alloc(workerData.bytes, 1);
  parentPort.on('message', () => { buffer.indexOf(2); parentPort.postMessage(0); });
  parentPort.postMessage(0);
`;

/** Best of some rounds with `threadCount` readers at once. Unit: bytes per second. */
export async function measureMemoryBandwidth(threadCount: number): Promise<number> {
  const readers = Array.from(
    { length: threadCount },
    () => new Worker(READER, { eval: true, workerData: { bytes: BUFFER_BYTES } }),
  );
  const answered = () =>
    Promise.all(readers.map(reader => new Promise(resolve => reader.once('message', resolve))));
  await answered();
  let best = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const all = answered();
    const start = performance.now();
    for (const reader of readers) reader.postMessage(0);
    await all;
    best = Math.max(best, (threadCount * BUFFER_BYTES * 1000) / (performance.now() - start));
  }
  await Promise.all(readers.map(reader => reader.terminate()));
  return best;
}
