// Which cached prompts a request may share. What one caller sent must not show in another caller's waiting time.

import type { Principal, Services } from '../ports/services.ts';

/**
 * Name of the partition. Two requests share cached prompts only when their callers' teams and their salts are the
 * same; with the scope `server`, teams do not matter. A key without a team is a team of its own.
 */
export function toCachePartition(
  { team, keyId }: Principal,
  salt: string | null | undefined,
  scope: Services['promptCacheScope'],
): string {
  const owner = scope === 'server' ? ['server'] : team === undefined ? ['key', keyId] : ['team', team];
  // A list in JSON has one reading only, whatever the parts contain.
  return JSON.stringify(salt == null ? owner : [...owner, salt]);
}

/** The salt of the requests of a partition; null without one. */
export function readPartitionSalt(partition: string): string | null {
  const [kind, ...rest] = JSON.parse(partition) as string[];
  return rest[kind === 'server' ? 0 : 1] ?? null;
}
