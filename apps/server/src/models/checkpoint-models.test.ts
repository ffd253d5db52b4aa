import { expect, it, vi } from 'vitest';
import { createCheckpointModels } from './checkpoint-models.ts';

it('does not query the store for names that cannot be stored, which PostgreSQL would refuse', async () => {
  const findServable = vi.fn(async () => null);
  const never = vi.fn();
  const models = createCheckpointModels({
    store: { findServable, listServable: async () => [] },
    loaded: {
      open: never,
      list: () => [],
      listLoading: () => [],
      listKeys: () => [],
      unload: never,
      drop: never,
      close: never,
    },
    baseFolder: () => undefined,
    prepare: never,
    findForeignFile: never,
    start: never,
  });
  for (const id of ['clerk\0', 'acme/default/\ud800', 'clerk\n:step1'])
    expect(await models.find(id, { keyId: 'k' })).toBeUndefined();
  expect(findServable).not.toHaveBeenCalled();
  await models.find('clerk', { keyId: 'k' });
  expect(findServable).toHaveBeenCalledOnce();
});
