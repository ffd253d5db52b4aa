// Chooses the server of a request: by its prefix where it has one, so that the same conversation finds its cache, else the one
// with the fewest open requests. Servers with an open circuit breaker are left out.

import { type BreakerState, CircuitBreaker, type CircuitBreakerOptions } from './circuit-breaker.ts';
import { HashRing } from './hash-ring.ts';

export interface Lease {
  readonly url: URL;
  /** The answer has begun. */
  answer(): void;
  /** Must be called once, when the request has ended. `moved`: another server may be asked instead; `left`: its caller gave up. */
  end(outcome: 'succeeded' | 'failed' | 'moved' | 'left'): void;
}

/** One server of a pool, as it is now. */
export interface ServerState {
  readonly url: string;
  /**
   * `open`: it failed so often that it is left alone; `half_open`: after that, the next request or the one that runs decides.
   */
  readonly breaker: BreakerState;
  /** Requests that are being answered. */
  readonly openCount: number;
  /** Requests since the start, those that moved on included. */
  readonly requestCount: number;
  readonly failureCount: number;
}

export class ServerPool {
  readonly #urls: readonly URL[];
  readonly #ring: HashRing;
  readonly #breakers: readonly CircuitBreaker[];
  readonly #now: () => number;
  readonly #loads: number[];
  readonly #requestCounts: number[];
  readonly #failureCounts: number[];

  constructor(urls: readonly URL[], breaker: CircuitBreakerOptions) {
    this.#urls = urls;
    this.#ring = new HashRing(urls.map(({ href }) => href));
    this.#breakers = urls.map(() => new CircuitBreaker(breaker));
    this.#now = breaker.now;
    this.#loads = urls.map(() => 0);
    this.#requestCounts = urls.map(() => 0);
    this.#failureCounts = urls.map(() => 0);
  }

  get size(): number {
    return this.#urls.length;
  }

  /** In the order of their addresses. */
  get servers(): readonly ServerState[] {
    return this.#urls.map(({ href }, index) => ({
      url: href,
      breaker: this.#breakers[index]!.state,
      openCount: this.#loads[index]!,
      requestCount: this.#requestCounts[index]!,
      failureCount: this.#failureCounts[index]!,
    }));
  }

  /** Time until some server may be tried; 0 when one may be asked now. Unit: milliseconds. */
  get remainingMs(): number {
    return Math.min(...this.#breakers.map(breaker => breaker.remainingMs));
  }

  /**
   * Takes a server that is not in `tried`; if all are, any. Undefined: none may be asked now.
   * @param key Requests with the same key prefer the same server. Null: the one with the fewest open requests.
   */
  take(key: string | null, tried: ReadonlySet<string>): Lease | undefined {
    const isAsked = (index: number) => this.#breakers[index]!.isOpenForRequests;
    const isFresh = (index: number) => isAsked(index) && !tried.has(this.#urls[index]!.href);
    const isAllowed = this.#urls.some((_, index) => isFresh(index)) ? isFresh : isAsked;
    const index =
      key === null ? this.#leastLoaded(isAllowed) : this.#ring.choose(key, this.#loads, isAllowed);
    return index === undefined ? undefined : this.#lease(index);
  }

  #leastLoaded(isAllowed: (index: number) => boolean): number | undefined {
    const allowed = this.#loads.map((_, index) => index).filter(isAllowed);
    return allowed.sort((a, b) => this.#loads[a]! - this.#loads[b]!)[0];
  }

  #lease(index: number): Lease {
    const breaker = this.#breakers[index]!;
    breaker.begin();
    this.#loads[index]!++;
    this.#requestCounts[index]!++;
    const begunAtMs = this.#now();
    return {
      url: this.#urls[index]!,
      answer: () => breaker.answer(),
      end: outcome => {
        this.#loads[index]!--;
        if (outcome === 'succeeded') breaker.succeed();
        else if (outcome === 'left') breaker.forget();
        else {
          this.#failureCounts[index]!++;
          breaker.fail(outcome === 'moved' ? this.#now() - begunAtMs : undefined);
        }
      },
    };
  }
}
