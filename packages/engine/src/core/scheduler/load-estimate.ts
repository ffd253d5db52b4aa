// Estimates the wait of a refused caller from running means: the time of a step and the length of answers. Owned by the step
// loop; it gets counts, not sequences.

/** Weight of the newest observation in the running means. */
const NEWEST_WEIGHT = 0.1;
/** Shortest estimate: the resolution of HTTP Retry-After. Unit: milliseconds. */
const SHORTEST_WAIT_MS = 1_000;
/** Longest estimate. Unit: milliseconds. */
const LONGEST_WAIT_MS = 60_000;

/** Tokens of a running sequence: generated so far, and the maximum that it may generate. */
export interface RunningLength {
  readonly outputLength: number;
  readonly maxTokens: number;
}

export class LoadEstimate {
  #stepMs: number | null = null;
  #answerLength: number | null = null;

  /** Mutates: records the duration of a step. Unit: milliseconds. */
  stepTook(durationMs: number): void {
    this.#stepMs = mean(this.#stepMs, durationMs);
  }

  /** Mutates: records the length of an answer that ended. */
  answerEnded(outputLength: number): void {
    this.#answerLength = mean(this.#answerLength, outputLength);
  }

  /**
   * Expected time until `endCount` of the running and the waiting sequences have ended: answers are expected to have the
   * mean length of earlier ones, and a free place is taken by an answer of mean length.
   * Unit: milliseconds, from 1,000 to 60,000.
   */
  waitMs(endCount: number, running: readonly RunningLength[]): number {
    if (this.#stepMs === null || running.length === 0) return SHORTEST_WAIT_MS;
    const remaining = running.map(length => this.#remainingSteps(length)).sort((a, b) => a - b);
    const rounds = Math.floor((endCount - 1) / running.length);
    const last = remaining[(endCount - 1) % running.length]!;
    const answerLength = this.#answerLength ?? remaining.at(-1)!;
    const waitMs = (rounds * answerLength + last) * this.#stepMs;
    return Math.ceil(Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, waitMs)));
  }

  #remainingSteps({ outputLength, maxTokens }: RunningLength): number {
    const expected = this.#answerLength ?? maxTokens;
    return Math.min(maxTokens - outputLength, Math.max(1, expected - outputLength));
  }
}

function mean(before: number | null, newest: number): number {
  return before === null ? newest : before + NEWEST_WEIGHT * (newest - before);
}
