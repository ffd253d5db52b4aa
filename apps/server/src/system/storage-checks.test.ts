import { afterEach, expect, it, vi } from 'vitest';
import { createStorageChecks } from './storage-checks.ts';

afterEach(() => {
  vi.useRealTimers();
});

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

it('gives those who ask often the last result while the next check runs, and waits for it where the last one is old', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const answers: ((state: 'ready' | 'unreachable') => void)[] = [];
  const checks = createStorageChecks({
    databases: [{ name: 'x', condition: () => new Promise(resolve => answers.push(resolve)) }],
  });
  const reading = async () => (await checks.check()).databases[0]!.state;

  const first = reading();
  answers[0]!('ready');
  expect(await first).toBe('ready');

  vi.advanceTimersByTime(700);
  expect(await reading()).toBe('ready');
  expect(answers).toHaveLength(2);

  vi.advanceTimersByTime(200);
  const third = reading();
  expect(answers).toHaveLength(2);
  answers[1]!('unreachable');
  expect(await third).toBe('unreachable');
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

it('is ready with a main database that only reads, and says so', async () => {
  const checks = createStorageChecks({
    databases: [{ name: 'postgres', isMain: true, condition: async () => 'read_only' }],
  });
  expect(await checks.check()).toEqual({
    databases: [{ name: 'postgres', state: 'read_only' }],
    isMainReady: true,
  });
});
