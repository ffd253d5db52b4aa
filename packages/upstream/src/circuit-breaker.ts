// Keeps requests from a server that fails: after some failures in a row it is left alone for a while, then one request tries
// it. Each failed trial doubles the pause, as far as trials cost time.

export interface CircuitBreakerOptions {
  /** Failures in a row that open it. */
  readonly failureLimit: number;
  /** First pause. Unit: milliseconds. */
  readonly pauseMs: number;
  /** Longest pause. Unit: milliseconds. */
  readonly maxPauseMs: number;
  /** A clock that never goes back. Unit: milliseconds. */
  readonly now: () => number;
}

/** `closed` lets requests through, `open` none, `half_open` one, whose end decides. */
export type BreakerState = 'closed' | 'half_open' | 'open';

/** A pause is at most this many times as long as the trial before it took. */
const PAUSE_PER_TRIAL = 10;

export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failureCount = 0;
  #pauseMs = 0;
  #closedUntilMs = 0;
  #isTrying = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Whether a request may be sent now. */
  get isOpenForRequests(): boolean {
    if (this.#failureCount < this.#options.failureLimit) return true;
    return !this.#isTrying && this.#options.now() >= this.#closedUntilMs;
  }

  get state(): BreakerState {
    const { failureLimit, now } = this.#options;
    if (this.#failureCount < failureLimit) return 'closed';
    return this.#isTrying || now() >= this.#closedUntilMs ? 'half_open' : 'open';
  }

  /** Time until a trial; 0 when requests may be sent. Unit: milliseconds. */
  get remainingMs(): number {
    return this.isOpenForRequests ? 0 : Math.max(1, this.#closedUntilMs - this.#options.now());
  }

  /** To be called before a request is sent, when `isOpenForRequests`. */
  begin(): void {
    if (this.#failureCount >= this.#options.failureLimit) this.#isTrying = true;
  }

  succeed(): void {
    this.#failureCount = 0;
    this.#pauseMs = 0;
    this.#isTrying = false;
  }

  /** The answer has begun. A trial need not wait for its end, which may be minutes away; the next failure opens the breaker again. */
  answer(): void {
    if (!this.#isTrying) return;
    this.#isTrying = false;
    this.#failureCount = this.#options.failureLimit - 1;
  }

  /** @param costMs What the request lost by it. Default: more than any pause. */
  fail(costMs = Number.POSITIVE_INFINITY): void {
    this.#isTrying = false;
    this.#failureCount++;
    const { failureLimit, pauseMs, maxPauseMs, now } = this.#options;
    if (this.#failureCount < failureLimit) return;
    const limitMs = Math.max(pauseMs, Math.min(maxPauseMs, costMs * PAUSE_PER_TRIAL));
    this.#pauseMs = this.#pauseMs === 0 ? pauseMs : Math.min(limitMs, this.#pauseMs * 2);
    this.#closedUntilMs = now() + this.#pauseMs;
  }

  /** The request ended without saying anything of the server: its caller left. */
  forget(): void {
    this.#isTrying = false;
  }
}
