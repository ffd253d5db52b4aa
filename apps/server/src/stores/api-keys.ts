// API keys: made here, stored as hashes, checked in constant time. Keys have 256 random bits, so a plain SHA-256 is
// as good as a slow hash: there is nothing to guess.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { CredentialVerifier, Principal } from '@ortler/api';
import type { Database } from '../db/database.ts';

/** How keys made here begin, so that people and secret scanners know them. */
export const KEY_PREFIX = 'ortler-';

export interface ApiKeyStore extends CredentialVerifier {
  /**
   * Makes the first key when the store has none. Returns it, or null when there are keys already.
   * The key is shown once: only its hash is kept.
   */
  createFirstKey(): Promise<string | null>;
}

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
  const load = async () => {
    const rows = await db.selectFrom('api_keys').select(['id', 'hash']).execute();
    known = rows.map(({ id, hash }) => ({ hash: Buffer.from(hash, 'hex'), principal: { keyId: id } }));
    if (bootstrapKey !== undefined)
      known = [...known, { hash: hashKey(bootstrapKey), principal: { keyId: 'configuration' } }];
  };
  await load();

  return {
    verifyBearer(token) {
      const hash = hashKey(token);
      // Every key is compared whichever matches, so the time says nothing about the keys.
      let found: Principal | null = null;
      for (const key of known) if (timingSafeEqual(key.hash, hash)) found = key.principal;
      return Promise.resolve(found);
    },

    async createFirstKey() {
      if (known.length > 0) return null;
      const key = KEY_PREFIX + randomBytes(32).toString('base64url');
      const row = {
        id: randomBytes(8).toString('hex'),
        name: 'first start',
        hash: hashKey(key).toString('hex'),
        created_at: new Date(now()).toISOString(),
      };
      // Another server on the same database may do the same at this moment.
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

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
