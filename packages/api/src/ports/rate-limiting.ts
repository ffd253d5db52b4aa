// The port of rate limits: what a key and a team may use. limits/rate-limiter.ts implements it in memory.

/** Limits of one key or team. Null: none. */
export interface RateLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** Requests that are open at once, streams included. */
  readonly concurrency: number | null;
}

/** Whose use is limited: a `Principal`. */
export interface LimitedCaller {
  readonly keyId: string;
  readonly team?: string;
  /** Limits of the key that differ from the default ones. */
  readonly limits?: Partial<RateLimits>;
}

/** An admitted request. */
export interface AdmittedRequest {
  /** `x-ratelimit-*` of the tightest limits; empty without limits. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be called when the reply has ended; further calls have no effect. */
  release(): void;
}

export interface RateLimiting {
  /** Counts a request. Throws: `rate_limit_requests`, `rate_limit_tokens`. A refused request counts nowhere. */
  admit(caller: LimitedCaller): AdmittedRequest;
  /** `x-ratelimit-*` of the tightest limits, without counting a request. */
  headersOf(caller: LimitedCaller): Readonly<Record<string, string>>;
  /** Counts the tokens of a prompt or an answer, which may put the caller into debt. */
  charge(caller: LimitedCaller, tokenCount: number): void;
}
