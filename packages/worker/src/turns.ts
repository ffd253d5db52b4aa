// Cooperative work on the event loop. Long work of callers pauses now and then; all that is paused resumes in turns, one slice in each
// turn of the loop. So the loop is held up for one slice, however many callers send long work at once.

/** Longest work between two pauses. The overhead of a turn is some 30 microseconds. Unit: milliseconds. */
const SLICE_MS = 1;

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop, in which nothing else that waits here resumes. First come, first served. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** Pauses of one loop of work. */
export class Turns {
  #sliceStartMs = performance.now();

  /** Waits for its turn when the work has taken a slice of time. */
  async pause(): Promise<void> {
    if (performance.now() - this.#sliceStartMs < SLICE_MS) return;
    await nextTurn();
    this.#sliceStartMs = performance.now();
  }
}
