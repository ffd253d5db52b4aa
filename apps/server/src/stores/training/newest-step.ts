// The newest checkpoint step of a model.

import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/** Step of the newest checkpoint that is not deleted; null without one. */
export async function newestStep(db: Kysely<Tables>, modelId: string): Promise<number | null> {
  const { newest } = await db
    .selectFrom('checkpoints')
    .select(({ fn }) => fn.max('step').as('newest'))
    .where('model_id', '=', modelId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return newest;
}
