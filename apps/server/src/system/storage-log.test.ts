import { expect, it, vi } from 'vitest';
import { createStorageLog } from './storage-log.ts';

it('logs a fault once per period, with the number of those between, and another fault at once', () => {
  const log = { error: vi.fn() };
  let nowMs = 0;
  const note = createStorageLog(log, () => nowMs);
  const full = new Error('refused', { cause: new Error('database or disk is full') });
  for (let count = 0; count < 5; count++) note(full, 'The disk is full.');
  note(new Error('gone'), 'The folder is gone.');
  nowMs = 60_000;
  note(full, 'The disk is full.');
  expect(log.error.mock.calls).toEqual([
    [{ reason: 'database or disk is full', refusedBefore: 0 }, 'storage fault: The disk is full.'],
    [{ reason: 'gone', refusedBefore: 0 }, 'storage fault: The folder is gone.'],
    [{ reason: 'database or disk is full', refusedBefore: 4 }, 'storage fault: The disk is full.'],
  ]);
});
