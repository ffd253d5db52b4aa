// Entry of the thread in the tests of `StreamWorker`.

import { serveStreams } from '../src/serve-streams.ts';

/** What the thread does with a stream. */
export type StreamTask = 'sum' | 'first' | 'refuse' | 'exit' | 'wait' | 'move' | 'count';

class Refusal extends Error {
  readonly reason = 'too odd';
}

serveStreams<StreamTask>(async (task, body, signal) => {
  if (task === 'wait') {
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  }
  let sum = 0;
  let partCount = 0;
  for await (const bytes of body) {
    if (task === 'refuse') throw new Refusal('refused');
    if (task === 'exit') process.exit(3);
    for (const byte of bytes) sum += byte;
    partCount++;
    if (task === 'first') return { result: sum };
  }
  if (task === 'count') return { result: partCount };
  const moved = Uint8Array.of(1, 2, 3);
  return task === 'move' ? { result: moved, transfer: [moved.buffer] } : { result: sum };
});
