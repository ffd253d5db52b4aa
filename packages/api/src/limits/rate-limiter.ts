// Rate limits of keys and teams: requests and tokens per minute, and requests at once. Counted in memory; of servers that share a
// database each hears what the others counted, but for requests at once. See ADR 56 and 66.

import type { AdmittedRequest, LimitedCaller, RateLimiting, RateLimits } from '../ports/rate-limiting.ts';
import { shareOf } from '../team.ts';
import { ApiError } from '../trpc/errors.ts';
import { jittered } from './jitter.ts';
import { type AccountUse, type PastUse, SharedUse } from './shared-use.ts';
import { TokenBucket } from './token-bucket.ts';

export const NO_LIMITS: RateLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };

export interface RateLimiterOptions {
  /** For keys without limits of their own. */
  readonly perKey: RateLimits;
  readonly perTeam: RateLimits;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}

/** Pause that a caller with too many open requests is asked to make, before jitter. Unit: milliseconds. */
const CONCURRENCY_RETRY_MS = 1_000;
/** Idle accounts are removed when there are this many. */
const SWEEP_SIZE = 1_024;

/** The counters of one key or team. */
interface Account {
  readonly id: string;
  readonly owner: string;
  readonly limits: RateLimits;
  readonly requests: TokenBucket | null;
  readonly tokens: TokenBucket | null;
  openCount: number;
}

export class RateLimiter implements RateLimiting {
  readonly #options: RateLimiterOptions;
  readonly #accounts = new Map<string, Account>();
  /** Null where no other server counts. */
  #shared: SharedUse | null = null;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Whether anybody has a limit so far. */
  get hasAccounts(): boolean {
    return this.#accounts.size > 0;
  }

  /** From now on counts what `takeUses` gives. */
  share(): void {
    this.#shared = new SharedUse();
  }

  /** What was counted here since the last call, for the other servers. */
  takeUses(): readonly AccountUse[] {
    return this.#shared?.take() ?? [];
  }

  /** Counts what another server counted, oldest first. It is not in `takeUses`. */
  countElsewhere(uses: readonly PastUse[]): void {
    const nowMs = this.#options.now();
    for (const use of uses) {
      const account = this.#accounts.get(use.account);
      account?.requests?.take(use.requestCount, nowMs);
      account?.tokens?.take(use.tokenCount, nowMs);
      if (account === undefined) this.#shared?.remember(use);
    }
    this.#shared?.forget(nowMs);
  }

  admit(principal: LimitedCaller): AdmittedRequest {
    const accounts = this.#accountsOf(principal);
    if (accounts.length === 0) return { headers: {}, release: () => undefined };
    const nowMs = this.#options.now();
    for (const account of accounts) refuseOverLimit(account, nowMs);
    for (const account of accounts) {
      account.requests?.take(1, nowMs);
      this.#tell(account, 1, 0);
      account.openCount++;
    }
    let isOpen = true;
    return {
      headers: toHeaders(accounts, nowMs),
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        for (const account of accounts) account.openCount--;
      },
    };
  }

  headersOf(principal: LimitedCaller): Readonly<Record<string, string>> {
    return toHeaders(this.#accountsOf(principal), this.#options.now());
  }

  charge(principal: LimitedCaller, tokenCount: number): void {
    const nowMs = this.#options.now();
    for (const account of this.#accountsOf(principal)) {
      account.tokens?.take(tokenCount, nowMs);
      this.#tell(account, 0, tokenCount);
    }
  }

  #tell({ id, requests, tokens }: Account, requestCount: number, tokenCount: number): void {
    if (requests !== null || tokens !== null) this.#shared?.add(id, requestCount, tokenCount);
  }

  #accountsOf(principal: LimitedCaller): readonly Account[] {
    const { perKey, perTeam } = this.#options;
    const ofKey = { ...perKey, ...principal.limits };
    const accounts = [this.#account(`key ${principal.keyId}`, 'this key', ofKey)];
    if (principal.team !== undefined) accounts.push(this.#account(shareOf(principal), 'this team', perTeam));
    return accounts.filter(account => account !== null);
  }

  #account(id: string, owner: string, limits: RateLimits): Account | null {
    const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
    if (requestsPerMinute === null && tokensPerMinute === null && concurrency === null) return null;
    const known = this.#accounts.get(id);
    if (known !== undefined && areEqual(known.limits, limits)) return known;
    const nowMs = this.#options.now();
    if (this.#accounts.size >= SWEEP_SIZE) this.#sweep(nowMs);
    const past = this.#shared?.recall(id) ?? [];
    const bucket = (perMinute: number | null, kind: 'requestCount' | 'tokenCount') => {
      if (perMinute === null) return null;
      const created = new TokenBucket(perMinute, past[0]?.atMs ?? nowMs);
      for (const use of past) created.take(use[kind], use.atMs);
      return created;
    };
    const account: Account = {
      id,
      owner,
      limits,
      requests: bucket(requestsPerMinute, 'requestCount'),
      tokens: bucket(tokensPerMinute, 'tokenCount'),
      openCount: known?.openCount ?? 0,
    };
    this.#accounts.set(id, account);
    return account;
  }

  #sweep(nowMs: number): void {
    for (const [id, { requests, tokens, openCount }] of this.#accounts)
      if (openCount === 0 && requests?.isFull(nowMs) !== false && tokens?.isFull(nowMs) !== false)
        this.#accounts.delete(id);
  }
}

function areEqual(a: RateLimits, b: RateLimits): boolean {
  return (
    a.requestsPerMinute === b.requestsPerMinute &&
    a.tokensPerMinute === b.tokensPerMinute &&
    a.concurrency === b.concurrency
  );
}

function refuseOverLimit({ owner, limits, requests, tokens, openCount }: Account, nowMs: number): void {
  const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
  if (concurrency !== null && openCount >= concurrency)
    throw new ApiError(
      'rate_limit_requests',
      `Rate limit reached: ${owner} may have ${concurrency} requests open at once.`,
      { retryAfterMs: jittered(CONCURRENCY_RETRY_MS) },
    );
  const requestWaitMs = requests?.waitMs(1, nowMs) ?? 0;
  if (requestWaitMs > 0)
    throw new ApiError(
      'rate_limit_requests',
      `Rate limit reached: ${owner} may send ${requestsPerMinute} requests per minute.`,
      { retryAfterMs: jittered(requestWaitMs) },
    );
  const tokenWaitMs = tokens?.waitMs(1, nowMs) ?? 0;
  if (tokenWaitMs > 0)
    throw new ApiError(
      'rate_limit_tokens',
      `Rate limit reached: ${owner} may use ${tokensPerMinute} tokens per minute.`,
      { retryAfterMs: jittered(tokenWaitMs) },
    );
}

/** The names and forms of OpenAI's headers, for the account with the least left. */
function toHeaders(accounts: readonly Account[], nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const kind of ['requests', 'tokens'] as const) {
    const [tightest] = accounts
      .flatMap(({ limits, [kind]: bucket }) => {
        const limit = kind === 'requests' ? limits.requestsPerMinute : limits.tokensPerMinute;
        return bucket === null || limit === null ? [] : [{ limit, bucket }];
      })
      .sort((a, b) => a.bucket.level(nowMs) - b.bucket.level(nowMs));
    if (tightest === undefined) continue;
    const { limit, bucket } = tightest;
    headers[`x-ratelimit-limit-${kind}`] = String(limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(Math.max(0, Math.floor(bucket.level(nowMs))));
    headers[`x-ratelimit-reset-${kind}`] = toDuration(bucket.waitMs(limit, nowMs));
  }
  return headers;
}

/** `6m0s`, `1.5s`, `20ms`. Source: OpenAI's headers. */
export function toDuration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  if (ms < 59_995) return `${Math.ceil(ms / 10) / 100}s`;
  const seconds = Math.ceil(ms / 1_000);
  return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
