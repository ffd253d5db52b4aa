// Verifies API keys: presented keys are hashed and compared in constant time. key-registry.ts creates and removes keys.

import { timingSafeEqual } from 'node:crypto';
import type { CredentialVerifier, Principal } from '@ortler/api';
import type { Database } from '../db/database.ts';
import { hashKey, makeKey } from './key-registry.ts';

export interface ApiKeyStore extends CredentialVerifier {
  /**
   * Creates the first key when the store has none. Returns it, or null when keys exist.
   * The key is shown once: only its hash is kept.
   */
  createFirstKey(): Promise<string | null>;
}

/**
 * Shortest interval between two database reads for unknown keys, over all requests, so that invalid keys cannot flood the
 * database. A new key is accepted after this time at the latest.
 */
const LOOK_UP_INTERVAL_MS = 1_000;
/** Known keys are reloaded at this interval, so that a key removed by another process is refused soon. */
const REFRESH_INTERVAL_MS = 10_000;

interface KnownKey {
  readonly hash: Buffer;
  readonly principal: Principal;
}

/**
 * Opens the store.
 * @param bootstrapKey A key from the configuration. It is valid while this process runs and is never stored.
 * @param now Unit: milliseconds since 1970.
 */
export async function createApiKeyStore(
  { db, exclusively }: Database,
  { bootstrapKey, now }: { readonly bootstrapKey: string | undefined; readonly now: () => number },
): Promise<ApiKeyStore> {
  let known: readonly KnownKey[] = [];
  let readAtMs = now();
  let reading: Promise<void> | undefined;
  const load = async () => {
    readAtMs = now();
    const rows = await db.selectFrom('api_keys').select(['id', 'hash', 'team']).execute();
    known = rows.map(({ id, hash, team }) => ({
      hash: Buffer.from(hash, 'hex'),
      principal: { keyId: id, ...(team !== null && { team }) },
    }));
    if (bootstrapKey !== undefined)
      known = [...known, { hash: hashKey(bootstrapKey), principal: { keyId: 'configuration' } }];
  };
  // Concurrent requests share one query. A clock that was set back counts as elapsed time.
  const loadIfOlderThan = async (intervalMs: number) => {
    if (Math.abs(now() - readAtMs) >= intervalMs)
      reading ??= load().finally(() => {
        reading = undefined;
      });
    await reading;
  };
  const find = (hash: Buffer): Principal | null => {
    // Every key is compared, also after a match, so the time reveals nothing about the keys.
    let found: Principal | null = null;
    for (const key of known) if (timingSafeEqual(key.hash, hash)) found = key.principal;
    return found;
  };
  await load();

  return {
    async verifyBearer(token) {
      const hash = hashKey(token);
      const found = find(hash);
      if (found === null) {
        await loadIfOlderThan(LOOK_UP_INTERVAL_MS);
      } else {
        // Known keys stay valid while the database does not answer.
        await loadIfOlderThan(REFRESH_INTERVAL_MS).catch(() => undefined);
      }
      return find(hash);
    },

    async createFirstKey() {
      if (known.length > 0) return null;
      const { key, row } = makeKey({ name: 'first start', team: null }, now());
      // Another server on the same database may do the same at the same time.
      const isFirst = await exclusively('first-api-key', async trx => {
        if ((await trx.selectFrom('api_keys').select('id').limit(1).execute()).length > 0) return false;
        await trx.insertInto('api_keys').values(row).execute();
        return true;
      });
      await load();
      return isFirst ? key : null;
    },
  };
}
