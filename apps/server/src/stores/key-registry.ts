// Creates, lists and removes API keys. Keys have 256 random bits, so a plain SHA-256 is as safe as a slow password hash.
// Running servers reload keys by themselves; see api-keys.ts.

import { hash, randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import type { ApiKeysTable } from '../db/tables/api-keys.ts';

/** Prefix of keys, so that people and secret scanners recognise them. */
export const KEY_PREFIX = 'ortler-';

/** Team names. Entities and folders have the same names, so no separators and no `..`. */
export const TEAM_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export interface KeyDescription {
  /** Purpose of the key, for people. */
  readonly name: string;
  /** Null: the key has access to the data of all teams. */
  readonly team: string | null;
  /** Rate limits other than those of the configuration; 0: none. */
  readonly limits?: KeyLimits;
}

export interface KeyLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrency?: number | undefined;
}

export interface ListedKey extends KeyDescription {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** A new key and its row. The key itself is stored nowhere. */
export function makeKey(
  { name, team, limits = {} }: KeyDescription,
  nowMs: number,
): { readonly key: string; readonly row: ApiKeysTable } {
  const key = KEY_PREFIX + randomBytes(32).toString('base64url');
  const row = {
    id: randomBytes(8).toString('hex'),
    name,
    hash: hashKey(key).toString('hex'),
    team,
    created_at: new Date(nowMs).toISOString(),
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    concurrency: limits.concurrency ?? null,
  };
  return { key, row };
}

export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Stores a new key and returns it; it cannot be read again. */
export async function addKey(
  { db }: Pick<Database, 'db'>,
  description: KeyDescription,
  nowMs: number,
): Promise<{ readonly id: string; readonly key: string }> {
  const { key, row } = makeKey(description, nowMs);
  await db.insertInto('api_keys').values(row).execute();
  return { id: row.id, key };
}

/** All keys, oldest first. */
export async function listKeys({ db }: Pick<Database, 'db'>): Promise<readonly ListedKey[]> {
  const rows = await db.selectFrom('api_keys').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(row => ({
    id: row.id,
    name: row.name,
    team: row.team,
    createdAt: row.created_at,
    limits: {
      requestsPerMinute: row.requests_per_minute ?? undefined,
      tokensPerMinute: row.tokens_per_minute ?? undefined,
      concurrency: row.concurrency ?? undefined,
    },
  }));
}

/** Whether a key with the id existed. */
export async function removeKey({ db }: Pick<Database, 'db'>, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('api_keys').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}
