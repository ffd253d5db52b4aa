// Kysely types of the tables of usage.

/** One row per day, key, team, project and model. */
export interface UsageTable {
  /** `2026-11-23`, UTC. */
  readonly day: string;
  readonly key_id: string;
  /** Empty: the key has no team. */
  readonly team: string;
  /** Empty: the requests named none. */
  readonly project: string;
  readonly model: string;
  readonly request_count: number;
  readonly input_token_count: number;
  readonly cached_token_count: number;
  readonly output_token_count: number;
}

/** On PostgreSQL, the last batch of each writer, one writer per start of a server: a batch that was stored already is not added again. */
export interface UsageWriterTable {
  readonly id: string;
  readonly last_batch: number;
  /** Day of that batch, UTC. */
  readonly last_day: string;
}

export interface UsageTables {
  readonly usage: UsageTable;
  readonly usage_writers: UsageWriterTable;
}
