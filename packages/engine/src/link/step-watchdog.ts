// Finds a token side that hangs in a native call. It asks a token side that has work whether it still takes messages,
// which it does between two steps. One that is idle, or whose readers have all fallen behind, answers at once, so silence
// means a step that does not end. Caller: `supervised-link.ts`, only while the model is ready.

/** Silence is counted in parts of the time, so that a pause of this very process is not taken for one of the other. */
const PART_COUNT = 4;

export interface StepWatchdogEvents {
  /** The token side is to answer with `answered`. */
  readonly ask: () => void;
  /** It did not. Called once; the watchdog has stopped. */
  readonly onHang: () => void;
}

export class StepWatchdog {
  readonly #timeoutMs: number;
  readonly #events: StepWatchdogEvents;
  #timer: NodeJS.Timeout | null = null;
  /** Parts of the time that went by without an answer. Null: the last question was answered. */
  #silentPartCount: number | null = null;
  #hasWork = false;
  /** Something was sent after the last question, so its answer does not know of it. */
  #isAnswerOld = false;

  /** @param timeoutMs Longest silence. It is noticed up to a quarter later. */
  constructor(timeoutMs: number, events: StepWatchdogEvents) {
    this.#timeoutMs = timeoutMs;
    this.#events = events;
  }

  /** The token side was sent something that may give it work. */
  start(): void {
    this.#hasWork = true;
    this.#isAnswerOld = true;
    if (this.#timer !== null) return;
    this.#ask();
    this.#timer = setInterval(() => this.#endPart(), this.#timeoutMs / PART_COUNT);
  }

  /** The answer to the last question: after what came with it, has the token side work? */
  answered(hasWork: boolean): void {
    this.#silentPartCount = null;
    this.#hasWork = hasWork || this.#isAnswerOld;
  }

  /** The token side ends, or is gone. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#silentPartCount = null;
  }

  #ask(): void {
    this.#silentPartCount = 0;
    this.#isAnswerOld = false;
    this.#events.ask();
  }

  #endPart(): void {
    if (this.#silentPartCount === null) {
      if (this.#hasWork) this.#ask();
      else this.stop();
      return;
    }
    this.#silentPartCount++;
    if (this.#silentPartCount < PART_COUNT) return;
    this.stop();
    this.#events.onHang();
  }
}
