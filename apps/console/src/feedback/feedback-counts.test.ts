import { expect, it } from 'vitest';
import { FeedbackTally } from './feedback-counts.ts';

it('adds pages up by type and by day, with the days between', () => {
  const tally = new FeedbackTally();
  tally.add([
    { feedback_type: 'a', created_at: '2026-01-01T23:59:59.000Z' },
    { feedback_type: 'b', created_at: '2026-01-03T00:00:00.000Z' },
  ]);
  tally.add([{ feedback_type: 'b', created_at: '2026-01-03T10:00:00.000Z' }]);
  const day = Date.UTC(2026, 0, 1) / 1000;
  expect(tally.counts()).toEqual({
    total: 3,
    byType: [
      ['b', 2],
      ['a', 1],
    ],
    days: [day, day + 86_400, day + 172_800],
    perDay: [1, 0, 2],
  });
});

it('is empty without rows', () => {
  expect(new FeedbackTally().counts()).toEqual({ total: 0, byType: [], days: [], perDay: [] });
});
