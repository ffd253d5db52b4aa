// Servers on one PostgreSQL agree on rate limits: four times a second each writes what it counted and reads what the others did.
// No request waits for it. While the database does not answer, each server counts its own. See ADR 66.

import { randomUUID } from 'node:crypto';
import { type AccountUse, type PastUse, type RateLimiter, REMEMBERED_MS } from '@ortler/api';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { RateLimitTables } from '../../db/tables/rate-limits.ts';
import { beforeTimeout } from '../../system/before-timeout.ts';
import { createRateLimitTable } from './rate-limit-table.ts';

const ROUND_MS = 250;
/** Between the rounds of a server on which nobody with a limit called yet: it only remembers what others counted. */
const IDLE_MS = 5_000;
/** A transaction may be visible so much later than the moment that it wrote. */
const OVERLAP_MS = 5_000;
/** Longest wait of a stop for a database that hangs. */
const CLOSE_MS = 2_000;
const KEEP_MS = 3 * REMEMBERED_MS;
/** Rows of one insert: five columns each, and PostgreSQL accepts 65,535 parameters. */
const ROWS_PER_STATEMENT = 10_000;

export interface SharedLimitsOptions {
  readonly now: () => number;
  /** Called when a round fails after one that did not, and with null when one succeeds again. */
  readonly onChange: (failure: unknown) => void;
}

export interface SharedLimits {
  /** Tells the others what is left to tell, as far as the database takes it soon, and ends. */
  close(): Promise<void>;
}

/** Mutates: `limiter` counts for other servers from now on. Throws: `DatabaseError`. */
export async function shareLimits(
  database: Database,
  limiter: RateLimiter,
  options: SharedLimitsOptions,
): Promise<SharedLimits> {
  await database.exclusively('rate-limit-table', trx =>
    createRateLimitTable(trx as unknown as Kysely<RateLimitTables>),
  );
  const exchange = new Exchange(database.db as unknown as Kysely<RateLimitTables>, limiter, options);
  limiter.share();
  // What was used in the last minute counts from the first request on.
  await exchange.round();
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (!limiter.hasAccounts && exchange.sinceReadMs < IDLE_MS) return;
    running ??= exchange.round().finally(() => {
      running = undefined;
    });
  }, ROUND_MS);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      const tellRest = async () => {
        await running;
        if (limiter.hasAccounts && !exchange.isFailing) await exchange.round();
      };
      await beforeTimeout(CLOSE_MS, tellRest(), undefined);
    },
  };
}

class Exchange {
  readonly #db: Kysely<RateLimitTables>;
  readonly #limiter: RateLimiter;
  readonly #options: SharedLimitsOptions;
  readonly #server = randomUUID();
  /** The last round that was read of each other server. */
  readonly #lastRounds = new Map<string, number>();
  #round = 0;
  /** Not acknowledged yet. Written again under its number, so that it counts once. */
  #unwritten: readonly AccountUse[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;
  #prunedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the last round failed. */
  isFailing = false;

  constructor(db: Kysely<RateLimitTables>, limiter: RateLimiter, options: SharedLimitsOptions) {
    this.#db = db;
    this.#limiter = limiter;
    this.#options = options;
  }

  /** A clock that was set back counts as elapsed time. */
  get sinceReadMs(): number {
    return Math.abs(this.#options.now() - this.#readAtMs);
  }

  async round(): Promise<void> {
    try {
      await this.#write();
      await this.#read();
      await this.#prune();
      if (this.isFailing) this.#options.onChange(null);
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.#options.onChange(error);
      this.isFailing = true;
    }
  }

  async #write(): Promise<void> {
    if (this.#unwritten.length === 0) {
      this.#unwritten = this.#limiter.takeUses();
      if (this.#unwritten.length === 0) return;
      this.#round++;
    }
    const rows = this.#unwritten.map(({ account, requestCount, tokenCount }) => ({
      server: this.#server,
      round: this.#round,
      account,
      request_count: requestCount,
      token_count: tokenCount,
    }));
    await this.#db.transaction().execute(async trx => {
      for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT)
        await trx
          .insertInto('rate_limit_uses')
          .values(rows.slice(start, start + ROWS_PER_STATEMENT))
          .onConflict(conflict => conflict.columns(['server', 'round', 'account']).doNothing())
          .execute();
    });
    this.#unwritten = [];
  }

  async #read(): Promise<void> {
    const nowMs = this.#options.now();
    const sinceMs = Math.min(REMEMBERED_MS, this.sinceReadMs) + OVERLAP_MS;
    const rows = await this.#db
      .selectFrom('rate_limit_uses')
      .select(['server', 'round', 'account', 'request_count', 'token_count'])
      .select(sql<number>`(extract(epoch from now() - at) * 1000)::double precision`.as('age_ms'))
      .where('server', '!=', this.#server)
      .where('at', '>', sql<Date>`now() - make_interval(secs => ${sinceMs / 1_000})`)
      .orderBy('at')
      .execute();
    const uses: PastUse[] = [];
    const rounds = new Map<string, number>();
    for (const { server, round, account, request_count, token_count, age_ms } of rows) {
      if (round <= (this.#lastRounds.get(server) ?? 0)) continue;
      rounds.set(server, Math.max(round, rounds.get(server) ?? 0));
      uses.push({
        account,
        requestCount: request_count,
        tokenCount: token_count,
        atMs: nowMs - Math.max(0, age_ms),
      });
    }
    for (const [server, round] of rounds) this.#lastRounds.set(server, round);
    this.#readAtMs = nowMs;
    this.#limiter.countElsewhere(uses);
  }

  /** Rows of every server, also of those that were killed. */
  async #prune(): Promise<void> {
    const nowMs = this.#options.now();
    if (Math.abs(nowMs - this.#prunedAtMs) < REMEMBERED_MS) return;
    this.#prunedAtMs = nowMs;
    await this.#db
      .deleteFrom('rate_limit_uses')
      .where('at', '<', sql<Date>`now() - make_interval(secs => ${KEEP_MS / 1_000})`)
      .execute();
  }
}
