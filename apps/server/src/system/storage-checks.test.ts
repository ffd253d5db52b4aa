import { expect, it } from 'vitest';
import { createStorageChecks } from './storage-checks.ts';

it('reports the condition of each database, and a timeout as unreachable', async () => {
  const checks = createStorageChecks({
    databases: [
      { name: 'well', isMain: true, condition: async () => 'ready' },
      { name: 'failing', condition: async () => Promise.reject(new Error('no')) },
      { name: 'silent', condition: () => new Promise(() => undefined) },
    ],
  });
  expect(await checks.check()).toEqual({
    databases: [
      { name: 'well', state: 'ready' },
      { name: 'failing', state: 'unreachable' },
      { name: 'silent', state: 'unreachable' },
    ],
    isMainReady: true,
  });
});

it('asks once for all checks within a short time', async () => {
  let count = 0;
  const checks = createStorageChecks({
    databases: [
      {
        name: 'x',
        async condition() {
          count += 1;
          return 'ready';
        },
      },
    ],
  });
  for (let round = 0; round < 5; round++) await checks.check();
  expect(count).toBe(1);
});

it('reports a disk that hangs as unwritable, and does not ask it again meanwhile', async () => {
  let count = 0;
  const checks = createStorageChecks({
    disk: () => {
      count += 1;
      return new Promise(() => undefined);
    },
  });
  for (let round = 0; round < 2; round++)
    expect(await checks.check()).toMatchObject({ disk: { state: 'unwritable' } });
  expect(count).toBe(1);
});

it('says that the main database is not ready', async () => {
  const checks = createStorageChecks({
    databases: [{ name: 'sqlite', isMain: true, condition: async () => 'corrupt' }],
  });
  expect(await checks.check()).toMatchObject({ isMainReady: false });
});
