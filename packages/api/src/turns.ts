// Cooperative work on the event loop: a long loop pauses now and then, so that sockets and other requests are served.

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest work between two pauses. Unit: milliseconds. */
const SLICE_MS = 5;

export class Turns {
  #sliceStartMs = performance.now();

  /** Waits for the next turn of the event loop when the work has taken a slice of time. */
  async pause(): Promise<void> {
    if (performance.now() - this.#sliceStartMs < SLICE_MS) return;
    await nextTurn();
    this.#sliceStartMs = performance.now();
  }
}
