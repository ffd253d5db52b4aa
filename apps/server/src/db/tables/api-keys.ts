// Kysely type of the `api_keys` table.

export interface ApiKeysTable {
  readonly id: string;
  /** Purpose of the key, for people. */
  readonly name: string;
  /** SHA-256 of the key, lower-case hex. The key itself is stored nowhere. */
  readonly hash: string;
  /** Null: the key belongs to no team and has access to the projects of all teams. */
  readonly team: string | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** Rate limits of this key. Null: those of the configuration; 0: none. */
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
}
