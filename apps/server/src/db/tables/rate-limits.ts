// Kysely type of the table by which servers on one PostgreSQL agree on rate limits.

import type { Generated } from 'kysely';

/** What one server counted for one account in one round; kept for some minutes. */
export interface RateLimitUseTable {
  /** One id per start of a server. */
  readonly server: string;
  /** Grows with each round in which a server has something to report. */
  readonly round: number;
  readonly account: string;
  readonly request_count: number;
  readonly token_count: number;
  /** Set by the database. */
  readonly at: Generated<Date>;
}

export interface RateLimitTables {
  readonly rate_limit_uses: RateLimitUseTable;
}
