import { expect, it } from 'vitest';
import { describeOnEveryDatabase } from '../../../test/databases.ts';
import { useTrainingApp } from '../../../test/open-training-app.ts';
import { createCheckpointStore } from './checkpoints.ts';
import { pruneCheckpoints, pruneTrajectories } from './retention.ts';

describeOnEveryDatabase('retention', ({ open }) => {
  const training = useTrainingApp(open);

  it('keeps the newest and the best trajectories of each split, and counts first when asked to', async () => {
    const id = await training.createModel();
    const log = (split: string, rewards: readonly number[]) =>
      training.log(id, {
        split,
        trajectory_groups: rewards.map(reward => ({
          trajectories: [{ reward, metrics: { speed: -reward } }],
        })),
      });
    await log('train', [9, 1, 8]);
    await log('val', [5, 0]);
    await log('train', [2, 3]);
    const rewards = async () => {
      const { data } = (await training.call('GET', `/${id}/trajectories?limit=100`)).body;
      return data.map((item: { split: string; reward: number }) => `${item.split} ${item.reward}`);
    };
    const rule = { newestCount: 2, bestCount: 1, metric: 'reward', split: null };
    const before = await rewards();
    expect(await pruneTrajectories(training.database, id, { ...rule, isDryRun: true })).toEqual({
      kept: 5,
      deleted: 2,
    });
    expect(await rewards()).toEqual(before);
    await pruneTrajectories(training.database, id, { ...rule, isDryRun: false });
    expect(await rewards()).toEqual(['train 9', 'val 5', 'val 0', 'train 2', 'train 3']);
    const slow = { newestCount: 0, bestCount: 1, metric: 'speed', split: 'train', isDryRun: false };
    await pruneTrajectories(training.database, id, slow);
    expect(await rewards()).toEqual(['val 5', 'val 0', 'train 2']);
    // The first call of train lost everything, so its groups are gone too; averages stay.
    const groups = await training.database.db
      .selectFrom('trajectory_groups')
      .select('log_id')
      .where('model_id', '=', id)
      .execute();
    expect(groups).toHaveLength(4);
    expect((await training.call('GET', `/${id}/metrics?split=train`)).body.data[0].counts.reward).toBe(5);
  });

  it('keeps the newest and the best checkpoints, and always the newest', async () => {
    const id = await training.createModel();
    for (const loss of [3, 9, 1, 4])
      await training.call('POST', `/${id}/checkpoints`, {
        metrics: loss === 4 ? {} : { 'val/reward': loss },
      });
    const store = createCheckpointStore(training.database, () => 0);
    const rule = { newestCount: 0, bestCount: 1, metric: 'val/reward', isDryRun: false };
    expect(await pruneCheckpoints(store, id, rule)).toEqual({ kept: 2, deleted: 2 });
    const { data } = (await training.call('GET', `/${id}/checkpoints`)).body;
    expect(data.map((item: { step: number }) => item.step)).toEqual([1, 3]);
  });
});
