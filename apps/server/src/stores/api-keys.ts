// API keys: made here, stored as hashes, checked in constant time. Keys have 256 random bits, so a plain SHA-256 is
// as good as a slow hash: there is nothing to guess.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { CredentialVerifier, Principal } from '@ortler/api';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../db/tables.ts';

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
  db: Kysely<Tables>,
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
      // One statement, because another server on the same folder may do the same at this moment.
      const { numAffectedRows } = await sql`
        insert into api_keys (id, name, hash, created_at)
        select ${randomBytes(8).toString('hex')}, 'first start', ${hashKey(key).toString('hex')},
          ${new Date(now()).toISOString()}
        where not exists (select 1 from api_keys)`.execute(db);
      await load();
      if (numAffectedRows !== 1n) return null;
      return key;
    },
  };
}

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
