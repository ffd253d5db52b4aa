import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { describeOnEveryDatabase } from '../../../test/databases.ts';
import { createApiKeyStore } from '../../stores/api-keys.ts';
import { hashKey } from '../../stores/key-registry.ts';
import { createTrainingServices } from '../../stores/training/training-services.ts';
import type { Database } from '../database.ts';
import { migrate } from '../migrate.ts';

/** Reverts migration 0004 and later ones, and keeps the rows. */
async function backToBeforeTeams({ db, kind }: Database): Promise<void> {
  const statements = [
    ...['team', 'requests_per_minute', 'tokens_per_minute', 'concurrency'].map(
      column => `alter table api_keys drop column ${column}`,
    ),
    'create table old as select * from checkpoints',
    'drop table checkpoints',
    'alter table old rename to checkpoints',
    ...(kind === 'postgres' ? ['alter table checkpoints add primary key (id)'] : []),
    'create index checkpoints_order on checkpoints (model_id, step, id)',
    'create unique index checkpoints_live_step on checkpoints (model_id, step) where deleted_at is null',
    'drop table annotation_specs',
    'drop table annotation_queues',
    'drop table responses',
    `delete from kysely_migration where name >= '0004-teams'`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

describeOnEveryDatabase('stores from before teams', ({ open }) => {
  it('keep their keys, which reach everything, and their checkpoints with their tombstones', async () => {
    const database = await open();
    const folder = await mkdtemp(join(tmpdir(), 'ortler-teams-'));
    try {
      const { models, checkpoints } = createTrainingServices(database, {
        dataDir: folder,
        checkpointDir: undefined,
        now: () => 1,
      });
      const { model } = await models.create({ entity: 'acme', project: 'p', name: 'n', baseModel: 'b' });
      const register = (id: string, step: number) =>
        checkpoints.register(model.id, { id, step, metrics: { a: step }, weights: null });
      const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
      await register(first, 0);
      await register(second, 1);
      await checkpoints.deleteSteps(model.id, [0]);
      const page = () => checkpoints.list(model.id, { after: first, limit: 10, order: 'asc' });
      const before = await page();
      expect(before?.checkpoints).toHaveLength(1);

      await backToBeforeTeams(database);
      const hash = hashKey('old').toString('hex');
      await sql`insert into api_keys (id, name, hash, created_at) values ('k', 'n', ${hash}, 't')`.execute(
        database.db,
      );
      await migrate(database.db, database.kind);

      expect(await page()).toEqual(before);
      const keys = await createApiKeyStore(database, { bootstrapKey: undefined, now: () => 0 });
      expect(await keys.verifyBearer('old')).toEqual({ keyId: 'k' });
      keys.close();
      expect(await register(crypto.randomUUID(), 1)).toBe('taken');
      expect(await register(second, 5)).toBe('taken');
      // Migrating again finds nothing to do.
      await migrate(database.db, database.kind);
    } finally {
      await database.close();
      await rm(folder, { recursive: true });
    }
  }, 60_000);
});
