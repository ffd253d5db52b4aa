// Ids of checkpoints in lower case, as requests give them since then. Clients could choose them in any case.

import { sql } from 'kysely';
import type { DatabaseMigration } from '../column-types.ts';

/** An id whose other spelling a checkpoint of the same model has stays: both are found by their steps. */
export const checkpointIdsMigration: DatabaseMigration = async db => {
  await sql`update checkpoints set id = lower(id) where id <> lower(id) and not exists (
    select 1 from checkpoints as other
    where other.model_id = checkpoints.model_id and other.id <> checkpoints.id and lower(other.id) = lower(checkpoints.id)
  )`.execute(db);
};
