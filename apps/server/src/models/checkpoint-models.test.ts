import { expect, it, vi } from 'vitest';
import { createCheckpointModels } from './checkpoint-models.ts';

it('asks the store for no name that a database could not keep: PostgreSQL would refuse to look', async () => {
  const findServable = vi.fn(async () => null);
  const never = vi.fn();
  const models = createCheckpointModels({
    store: { findServable, listServable: async () => [] },
    loaded: { open: never, list: () => [], listKeys: () => [], drop: never, close: never },
    baseFolder: () => undefined,
    prepare: never,
    start: never,
  });
  for (const id of ['clerk\0', 'acme/default/\ud800', 'clerk\n:step1'])
    expect(await models.find(id, { keyId: 'k' })).toBeUndefined();
  expect(findServable).not.toHaveBeenCalled();
  await models.find('clerk', { keyId: 'k' });
  expect(findServable).toHaveBeenCalledOnce();
});
