// The port of usage: what each key, team, project and model used on each day. apps/server implements it on its databases.

/** What one generation used. */
export interface UsageRecord {
  /** Unit: milliseconds since 1970. */
  readonly atMs: number;
  readonly keyId: string;
  /** Null: the key has no team. */
  readonly team: string | null;
  /** Null: the request named none. */
  readonly project: string | null;
  readonly model: string;
  /** 1; 0 for all but the first of several prompts of one request. */
  readonly requestCount: number;
  readonly inputTokenCount: number;
  /** Part of the input that was a hit of the prefix cache. */
  readonly cachedTokenCount: number;
  readonly outputTokenCount: number;
}

/** What the sums are kept apart by. */
export const USAGE_GROUPS = ['api_key_id', 'team', 'project_id', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery {
  /** Inclusive. `2026-11-23`, UTC. */
  readonly firstDay: string;
  /** Inclusive. */
  readonly lastDay: string;
  readonly groups: readonly UsageGroup[];
  /** Only usage of these; empty lists: of all. */
  readonly keyIds: readonly string[];
  readonly teams: readonly string[];
  readonly projects: readonly string[];
  readonly models: readonly string[];
}

/** Sums of one day. Groups that were not asked for are null. */
export interface UsageSum {
  readonly day: string;
  readonly keyId: string | null;
  readonly team: string | null;
  readonly project: string | null;
  readonly model: string | null;
  readonly requestCount: number;
  readonly inputTokenCount: number;
  readonly cachedTokenCount: number;
  readonly outputTokenCount: number;
}

export interface UsageStore {
  /**
   * Counts a generation. When it resolves, the counts survive a kill of the process. While the database takes no writes, it
   * resolves all the same, and the counts are stored when the database is back.
   */
  record(usage: UsageRecord): Promise<void>;
  /** Ordered by day and groups. */
  list(query: UsageQuery): Promise<readonly UsageSum[]>;
}
