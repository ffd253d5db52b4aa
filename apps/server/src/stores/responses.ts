// Stored responses in the database, for as many days as the operator keeps them.

import type { ResponseStore, StoredResponse } from '@ortler/api';
import { parseLosslessJson, stringifyLosslessJson } from '@ortler/json';
import { isStorableText } from '@ortler/schemas';
import type { Database } from '../db/database.ts';

export interface ResponseStoreOptions {
  /** At least 1. */
  readonly retentionDays: number;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
/** Time between two deletions of old responses. */
const PRUNE_INTERVAL_MS = 3_600_000;

/** Builds the store. Old responses are deleted when new ones are saved, at most once an hour. */
export function createResponseStore(
  { db }: Pick<Database, 'db'>,
  { retentionDays, now }: ResponseStoreOptions,
): ResponseStore {
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  const oldestMs = () => now() - retentionDays * DAY_MS;

  async function prune(): Promise<void> {
    if (now() - prunedAtMs < PRUNE_INTERVAL_MS) return;
    prunedAtMs = now();
    await db.deleteFrom('responses').where('created_at', '<', oldestMs()).execute();
  }

  return {
    async save({ id, owner, createdAtMs, previousId, input, response }) {
      await prune();
      await db
        .insertInto('responses')
        .values({
          id,
          owner,
          created_at: createdAtMs,
          previous_id: previousId,
          input: stringifyLosslessJson(input),
          response: stringifyLosslessJson(response),
        })
        .execute();
    },

    async find(id, owner) {
      if (!isStorableText(id)) return undefined;
      const row = await db
        .selectFrom('responses')
        .selectAll()
        .where('id', '=', id)
        .where('owner', '=', owner)
        .where('created_at', '>=', oldestMs())
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return {
        id,
        owner,
        createdAtMs: row.created_at,
        previousId: row.previous_id,
        input: parseLosslessJson(row.input) as StoredResponse['input'],
        response: parseLosslessJson(row.response) as StoredResponse['response'],
      };
    },

    async remove(id, owner) {
      if (!isStorableText(id)) return false;
      const [result] = await db
        .deleteFrom('responses')
        .where('id', '=', id)
        .where('owner', '=', owner)
        .execute();
      return Number(result?.numDeletedRows ?? 0) > 0;
    },
  };
}
