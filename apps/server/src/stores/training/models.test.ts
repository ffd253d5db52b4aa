import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from '../../../test/databases.ts';
import type { Database } from '../../db/database.ts';
import { createTrainingModelStore } from './models.ts';

describeOnEveryDatabase('models in training', ({ open }) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(() => database.close(), DATABASE_HOOK_TIMEOUT_MS);

  async function makeModel(name: string, count: number): Promise<string> {
    const { model } = await createTrainingModelStore(database, () => 0).create({
      entity: 'e',
      project: 'p',
      name,
      baseModel: 'b',
    });
    const place = { model_id: model.id, log_id: 'l', split: 's', step: 0, logged_at: 0 };
    const rows = Array.from({ length: count }, (_, position) => ({
      ...place,
      position,
      group_index: 0,
      trajectory_index: position,
      reward: 0,
      initial_policy_version: null,
      final_policy_version: null,
      metrics: '{}',
      trainable_items: '[]',
      start_time: 0,
      json_length: 2,
      json: '{}',
    }));
    await database.db.insertInto('trajectories').values(rows).execute();
    return model.id;
  }
  const countOf = async (id: string) =>
    (await database.db.selectFrom('trajectories').select('position').where('model_id', '=', id).execute())
      .length;

  it('are deleted in portions, and a deletion that was interrupted goes on', async () => {
    const [id, other] = [await makeModel('large', 1_100), await makeModel('other', 3)];
    let isLost = false;
    const losing: KyselyPlugin = {
      transformQuery({ node }) {
        if (node.kind !== 'DeleteQueryNode') return node;
        if (isLost) throw new Error('connection lost');
        isLost = true;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const interrupted = createTrainingModelStore(
      { ...database, db: database.db.withPlugin(losing) },
      () => 0,
    );
    await expect(interrupted.delete(id)).rejects.toThrow('connection lost');
    const left = await countOf(id);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1_100);
    const store = createTrainingModelStore(database, () => 0);
    expect(await store.findById(id)).not.toBeNull();
    expect(await store.delete(id)).toBe(true);
    expect(await store.findById(id)).toBeNull();
    expect([await countOf(id), await countOf(other)]).toEqual([0, 3]);
    expect(await store.delete(id)).toBe(false);
  });
});
