import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { describeOnEveryDatabase } from '../../../test/databases.ts';
import { migrate } from '../migrate.ts';

describeOnEveryDatabase('ids of checkpoints', ({ open }) => {
  it('become lower case, but for two that differ in their case only', async () => {
    const database = await open();
    try {
      const { db, kind } = database;
      for (const [index, id] of ['Aa', 'bb', 'CC', 'cc'].entries())
        await db
          .insertInto('checkpoints')
          .values({
            id,
            model_id: 'm',
            step: index,
            metrics: '{}',
            weights_kind: null,
            weights_path: null,
            created_at: 0,
            deleted_at: null,
          })
          .execute();
      await sql`delete from kysely_migration where name >= '0008-checkpoint-ids'`.execute(db);
      await migrate(db, kind);
      const rows = await db.selectFrom('checkpoints').select('id').orderBy('step').execute();
      expect(rows.map(({ id }) => id)).toEqual(['aa', 'bb', 'CC', 'cc']);
    } finally {
      await database.close();
    }
  });
});
