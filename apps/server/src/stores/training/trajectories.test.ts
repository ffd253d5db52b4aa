import type { TrajectoryLog } from '@ortler/api';
import { expect, it } from 'vitest';
import type { Database } from '../../db/database.ts';
import { createTrajectoryStore } from './trajectories.ts';

it('opens one transaction at a time for the logs of a model', async () => {
  const transactions: PromiseWithResolvers<'unknown-model'>[] = [];
  const transaction = () => {
    transactions.push(Promise.withResolvers());
    return transactions.at(-1)!.promise;
  };
  const store = createTrajectoryStore({ transaction } as unknown as Database, {
    logReader: { read: () => Promise.reject(new Error('unused')) },
    now: () => 0,
  });
  const log = {} as TrajectoryLog;
  const first = store.append('a', log);
  const second = store.append('a', log);
  const other = store.append('b', log);
  await new Promise(setImmediate);
  expect(transactions).toHaveLength(2);
  transactions[0]!.reject(new Error('connection lost'));
  await expect(first).rejects.toThrow('connection lost');
  await new Promise(setImmediate);
  expect(transactions).toHaveLength(3);
  for (const { resolve } of transactions.slice(1)) resolve('unknown-model');
  expect(await Promise.all([second, other])).toEqual(['unknown-model', 'unknown-model']);
});
