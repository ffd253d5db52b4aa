// Messages of another thread, a slice of them in each turn of the event loop. Node delivers messages of a port until none is left, up to
// a thousand: where each answer sends the next question, and the thread is quick, no request gets through meanwhile.

/** Longest time of messages in one turn; the last one may exceed it. Unit: milliseconds. */
const SLICE_MS = 1;

export class MessageTurns {
  /** Of the first message in this turn. */
  #startedMs: number | undefined;
  #waitingCount = 0;

  /** Handles a message now or in a later turn, in the order of the calls. */
  run(handle: () => void): void {
    if (this.#waitingCount === 0 && this.#hasTime()) {
      handle();
      return;
    }
    this.#waitingCount++;
    setImmediate(() => {
      this.#waitingCount--;
      handle();
    });
  }

  #hasTime(): boolean {
    const nowMs = performance.now();
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs;
      setImmediate(() => {
        this.#startedMs = undefined;
      });
    }
    return nowMs - this.#startedMs < SLICE_MS;
  }
}
