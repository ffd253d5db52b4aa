import type { UsageRecord } from '@ortler/api';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { UsageTable } from '../../db/tables/usage.ts';
import { type UsageBatch, UsageWriter } from './usage-writer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const used: UsageRecord = {
  atMs: 0,
  keyId: 'k',
  team: null,
  project: null,
  model: 'm',
  requestCount: 1,
  inputTokenCount: 2,
  cachedTokenCount: 1,
  outputTokenCount: 3,
};

it('writes what is recorded during a write as one batch', async () => {
  const batches: (readonly UsageTable[])[] = [];
  const writer = new UsageWriter(async ({ rows }) => void batches.push(rows));
  await Promise.all([1, 2, 3, 4].map(() => writer.record(used)));
  expect(batches.map(([row]) => row!.request_count)).toEqual([1, 3]);
});

it('lets answers go on while the database is down, and stores their usage when it is back', async () => {
  let isDown = true;
  const stored: UsageTable[] = [];
  const writer = new UsageWriter(async ({ rows }) => {
    if (isDown) throw new Error('down');
    stored.push(...rows);
  });
  await writer.record(used);
  await writer.record(used);
  expect(stored).toEqual([]);
  isDown = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(stored).toMatchObject([{ request_count: 1 }, { request_count: 1, input_token_count: 2 }]);
  await writer.close();
  expect(stored).toHaveLength(2);
});

it('writes a batch again as it was, under its number, when its commit was not acknowledged', async () => {
  const batches: UsageBatch[] = [];
  const writer = new UsageWriter(async batch => {
    batches.push(batch);
    if (batches.length < 3) throw new Error('the connection was lost');
  });
  await writer.record(used);
  await writer.record(used);
  await vi.advanceTimersByTimeAsync(1_000);
  await writer.close();
  expect(batches.map(({ number, rows }) => [number, rows[0]!.request_count])).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
    [2, 1],
  ]);
});

it('lets answers go on while the database hangs, and counts nothing twice', async () => {
  const batches: (readonly UsageTable[])[] = [];
  const hanging = Promise.withResolvers<void>();
  const writer = new UsageWriter(async ({ rows }) => {
    batches.push(rows);
    if (batches.length === 1) await hanging.promise;
  });
  const answers = [writer.record(used), writer.record(used)];
  await vi.advanceTimersByTimeAsync(2_000);
  await Promise.all(answers);
  hanging.resolve();
  await writer.close();
  expect(batches.flat().reduce((sum, row) => sum + row.request_count, 0)).toBe(2);
});

it('writes what is left when it is closed', async () => {
  let isDown = true;
  const stored: UsageTable[] = [];
  const writer = new UsageWriter(async ({ rows }) => {
    if (isDown) throw new Error('down');
    stored.push(...rows);
  });
  await writer.record(used);
  isDown = false;
  await writer.close();
  expect(stored).toMatchObject([{ request_count: 1 }]);
});

it('waits five seconds at most for a database that hangs when it is closed', async () => {
  const writer = new UsageWriter(() => new Promise(() => undefined));
  void writer.record(used);
  const closing = writer.close();
  await vi.advanceTimersByTimeAsync(5_000);
  await closing;
});
