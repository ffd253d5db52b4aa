// Table of API keys, as Kysely sees it.

export interface ApiKeysTable {
  readonly id: string;
  /** What the key is for, in words. */
  readonly name: string;
  /** SHA-256 of the key, lower-case hex. The key itself is stored nowhere. */
  readonly hash: string;
  /** Null: the key belongs to no team and reaches what all teams have. */
  readonly team: string | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}
