// The use of keys and teams that several servers report to each other. See ADR 66.

/** What one account used: a key or a team. */
export interface AccountUse {
  readonly account: string;
  readonly requestCount: number;
  readonly tokenCount: number;
}

/** Use on another server. */
export interface PastUse extends AccountUse {
  /** Unit: milliseconds since 1970. */
  readonly atMs: number;
}

/** Limits are per minute: older use has been refilled. Unit: milliseconds. */
export const REMEMBERED_MS = 60_000;

export class SharedUse {
  #own = new Map<string, AccountUse>();
  /** Of accounts that nobody used here yet, oldest first. */
  readonly #past = new Map<string, PastUse[]>();

  add(account: string, requestCount: number, tokenCount: number): void {
    const known = this.#own.get(account);
    this.#own.set(account, {
      account,
      requestCount: (known?.requestCount ?? 0) + requestCount,
      tokenCount: (known?.tokenCount ?? 0) + tokenCount,
    });
  }

  /** Mutates: begins anew. */
  take(): readonly AccountUse[] {
    const own = [...this.#own.values()];
    this.#own = new Map();
    return own;
  }

  remember(use: PastUse): void {
    const known = this.#past.get(use.account);
    if (known === undefined) this.#past.set(use.account, [use]);
    else known.push(use);
  }

  /** What was remembered of an account. Mutates: forgets it. */
  recall(account: string): readonly PastUse[] {
    const past = this.#past.get(account) ?? [];
    this.#past.delete(account);
    return past;
  }

  /** Mutates: forgets what is older than a minute. */
  forget(nowMs: number): void {
    for (const [account, uses] of this.#past) {
      const recent = uses.filter(({ atMs }) => atMs > nowMs - REMEMBERED_MS);
      if (recent.length === 0) this.#past.delete(account);
      else if (recent.length < uses.length) this.#past.set(account, recent);
    }
  }
}
