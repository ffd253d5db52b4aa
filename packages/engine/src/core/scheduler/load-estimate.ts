// How long a refused caller should wait, from what was seen of the running work: the time of a step and the length
// of answers. Kept by the step loop; it knows counts, not sequences.

/** Weight of the newest observation in the running means. */
const NEWEST_WEIGHT = 0.1;
/** The shortest time that an HTTP Retry-After can say. Unit: milliseconds. */
const SHORTEST_WAIT_MS = 1_000;
/** Further ahead than this nothing is known. Unit: milliseconds. */
const LONGEST_WAIT_MS = 60_000;

/** Tokens of a running sequence: generated so far, and most that it may generate. */
export interface RunningLength {
  readonly outputLength: number;
  readonly maxTokens: number;
}

export class LoadEstimate {
  #stepMs: number | null = null;
  #answerLength: number | null = null;

  /** Mutates: takes in how long a step took. Unit: milliseconds. */
  stepTook(durationMs: number): void {
    this.#stepMs = mean(this.#stepMs, durationMs);
  }

  /** Mutates: takes in how many tokens an answer had at its end. */
  answerEnded(outputLength: number): void {
    this.#answerLength = mean(this.#answerLength, outputLength);
  }

  /**
   * When `endCount` of the running and the waiting sequences will probably have ended: answers are expected to be as
   * long as the mean of those before, a place that becomes free is taken by an answer of mean length.
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
