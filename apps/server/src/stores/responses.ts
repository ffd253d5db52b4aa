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
/** Time between two searches for old responses that found few. */
const PRUNE_INTERVAL_MS = 3_600_000;
/** Old responses deleted when one is saved, which waits for it: with a shorter retention than before nearly all are old. */
const PRUNE_ROWS = 100;

/** Builds the store. Old responses are deleted when new ones are saved, once an hour as long as there are few. */
export function createResponseStore(
  { db, reader }: Pick<Database, 'db' | 'reader'>,
  { retentionDays, now }: ResponseStoreOptions,
): ResponseStore {
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  const oldestMs = () => now() - retentionDays * DAY_MS;

  async function prune(): Promise<void> {
    // A clock that was set back counts as elapsed time.
    if (Math.abs(now() - prunedAtMs) < PRUNE_INTERVAL_MS) return;
    const { numDeletedRows } = await db
      .deleteFrom('responses')
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('responses')
          .select('id')
          .where('created_at', '<', oldestMs())
          .orderBy('created_at')
          .limit(PRUNE_ROWS),
      )
      .executeTakeFirst();
    if (numDeletedRows < PRUNE_ROWS) prunedAtMs = now();
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
      // Not through the writer: it may be busy with a long transaction.
      const row = await reader
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
