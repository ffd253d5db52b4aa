// Kysely type of the `usage` table, one row per day, key, project and model.

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

export interface UsageTables {
  readonly usage: UsageTable;
}
