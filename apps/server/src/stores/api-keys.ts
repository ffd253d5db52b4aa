// Verifies API keys: presented keys are hashed and compared in constant time with keys in memory. A timer reloads them, so a
// request with a known key never waits for the database. key-registry.ts creates and removes keys.

import { timingSafeEqual } from 'node:crypto';
import type { CredentialVerifier, KeyDirectory, KeyFacts, Principal, RateLimits } from '@ortler/api';
import type { Database } from '../db/database.ts';
import type { ApiKeysTable } from '../db/tables/api-keys.ts';
import { hashKey, makeKey } from './key-registry.ts';

export interface ApiKeyStore extends CredentialVerifier, KeyDirectory {
  /**
   * Creates the first key when the store has none. Returns it, or null when keys exist.
   * The key is shown once: only its hash is kept.
   */
  createFirstKey(): Promise<string | null>;
  /** Ends the reloading of keys. */
  close(): void;
}

/**
 * Shortest interval between two database reads for unknown keys, over all requests, so that invalid keys cannot flood the
 * database. A new key is accepted after this time at the latest.
 */
const LOOK_UP_INTERVAL_MS = 1_000;
/**
 * How often the database is asked whether its keys are others, so that one that another process removed is refused within a
 * second, as long as the database answers in half of that. While it does not answer, known keys stay valid.
 */
const REFRESH_INTERVAL_MS = 500;

interface KnownKey {
  readonly hash: Buffer;
  readonly principal: Principal;
  readonly facts: KeyFacts;
}

/**
 * Opens the store.
 * @param bootstrapKey A key from the configuration. It is valid while this process runs and is never stored.
 * @param now Unit: milliseconds since 1970.
 */
export async function createApiKeyStore(
  { reader, exclusively }: Database,
  { bootstrapKey, now }: { readonly bootstrapKey: string | undefined; readonly now: () => number },
): Promise<ApiKeyStore> {
  let known: readonly KnownKey[] = [];
  /** That of the keys in `known`. */
  let version: string | undefined;
  let readAtMs = now();
  let reading: Promise<void> | undefined;
  const read = async () => {
    readAtMs = now();
    // Not through the writer: it may be busy with a long transaction.
    const rows = await reader
      .selectFrom('api_keys')
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    version = versionOf({ count: rows.length, newest: lastOf(rows, 'created_at'), last: lastOf(rows, 'id') });
    known = [...(bootstrapKey === undefined ? [] : [toBootstrapKey(bootstrapKey)]), ...rows.map(toKnownKey)];
  };
  /** Keys are made and removed, never changed: their number and the newest tell. */
  const readVersion = async () => {
    const { fn } = reader;
    const row = await reader
      .selectFrom('api_keys')
      .select([fn.countAll().as('count'), fn.max('created_at').as('newest'), fn.max('id').as('last')])
      .executeTakeFirstOrThrow();
    return versionOf(row);
  };
  // Concurrent callers share one query.
  const load = () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  /** What is stored now: a reading that began before a change would miss it. */
  const loadAnew = async () => {
    await reading?.catch(() => undefined);
    await load();
  };
  const find = (hash: Buffer): Principal | null => {
    // Every key is compared, also after a match, so the time reveals nothing about the keys.
    let found: Principal | null = null;
    for (const key of known) if (timingSafeEqual(key.hash, hash)) found = key.principal;
    return found;
  };
  await load();
  let isChecking = false;
  const reloadIfChanged = async () => {
    if (isChecking) return;
    isChecking = true;
    try {
      if ((await readVersion()) !== version) await loadAnew();
    } finally {
      isChecking = false;
    }
  };
  const refresh = setInterval(
    () => void reloadIfChanged().catch(() => undefined),
    REFRESH_INTERVAL_MS,
  ).unref();

  return {
    async verifyBearer(token) {
      const hash = hashKey(token);
      const found = find(hash);
      if (found !== null) return found;
      // A clock that was set back counts as elapsed time.
      if (Math.abs(now() - readAtMs) >= LOOK_UP_INTERVAL_MS) await load();
      else await reading;
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
      await loadAnew();
      return isFirst ? key : null;
    },

    list: () => known.map(({ facts }) => facts),

    close: () => clearInterval(refresh),
  };
}

interface KeysVersion {
  readonly count: number | string | bigint;
  /** Texts, or null where there are no keys. */
  readonly newest: unknown;
  readonly last: unknown;
}

function versionOf({ count, newest, last }: KeysVersion): string {
  return JSON.stringify([Number(count), newest, last]);
}

/** The largest value, as `max` gives it: all have the same form. */
function lastOf(rows: readonly ApiKeysTable[], column: 'created_at' | 'id'): string | null {
  return rows.reduce<string | null>(
    (last, { [column]: value }) => (last === null || value > last ? value : last),
    null,
  );
}

function toKnownKey(row: ApiKeysTable): KnownKey {
  const { id, name, team, created_at: createdAt } = row;
  const limits = {
    ...toLimit('requestsPerMinute', row.requests_per_minute),
    ...toLimit('tokensPerMinute', row.tokens_per_minute),
    ...toLimit('concurrency', row.concurrency),
  };
  return {
    hash: Buffer.from(row.hash, 'hex'),
    principal: {
      keyId: id,
      ...(team !== null && { team }),
      ...(Object.keys(limits).length > 0 && { limits }),
    },
    facts: { id, name, team, createdAt, limits },
  };
}

function toBootstrapKey(key: string): KnownKey {
  const keyId = 'configuration';
  return {
    hash: hashKey(key),
    principal: { keyId },
    facts: { id: keyId, name: 'ORTLER_API_KEY', team: null, createdAt: null, limits: {} },
  };
}

/** Nothing where the key has no limit of its own; 0 lifts that of the configuration. */
function toLimit(name: keyof RateLimits, value: number | null): Partial<RateLimits> {
  return value === null ? {} : { [name]: value || null };
}
