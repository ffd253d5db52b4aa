// Detects a token side that hangs in a native call. It pings a token side that has work; the answer comes between two
// steps. An idle token side, or one whose choices are all paused, answers at once, so a missing answer means a step that
// hangs. Caller: `supervised-link.ts`, only while the model is ready.

/** The timeout is counted in parts, so that a pause of this process is not mistaken for a hanging token side. */
const PART_COUNT = 4;

export interface StepWatchdogEvents {
  /** Sends a ping. The pong is reported with `answered`. */
  readonly ask: () => void;
  /** No pong came within the timeout. Called once; the watchdog has stopped. */
  readonly onHang: () => void;
}

export class StepWatchdog {
  readonly #timeoutMs: number;
  readonly #events: StepWatchdogEvents;
  #timer: NodeJS.Timeout | null = null;
  /** Parts of the timeout that passed without a pong. Null: the last ping was answered. */
  #silentPartCount: number | null = null;
  #hasWork = false;
  /** A message was sent after the last ping, so its pong may not account for it. */
  #isAnswerOld = false;

  /** @param timeoutMs Longest time without a pong. A hang is noticed up to a quarter later. */
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

  /** The pong to the last ping. `hasWork`: whether steps follow. */
  answered(hasWork: boolean): void {
    this.#silentPartCount = null;
    this.#hasWork = hasWork || this.#isAnswerOld;
  }

  /** Stops, because the token side ends or has exited. */
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
