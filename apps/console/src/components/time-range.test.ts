import { expect, it } from 'vitest';
import { timeRange } from './time-range.ts';

const DAY = 86_400;

it('shows all times', () => {
  expect(timeRange([10 * DAY, 12 * DAY, 30 * DAY], 'time')).toEqual([10 * DAY, 30 * DAY]);
});

it('shows a week up to one day alone, and a minute up to one sample', () => {
  expect(timeRange([20_000 * DAY], 'time')).toEqual([19_993 * DAY, 20_000 * DAY]);
  expect(timeRange([1_000], 'clock')).toEqual([940, 1_000]);
});

it('ends now before there are data', () => {
  const [low, high] = timeRange([], 'clock');
  expect(high - low).toBe(60);
  expect(Math.abs(high - Date.now() / 1000)).toBeLessThan(60);
});
