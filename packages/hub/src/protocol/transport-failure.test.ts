import { expect, test } from 'vitest';
import { readRetryAfter } from './transport-failure.ts';

const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');

test.each([
  ['120', 120_000],
  [' 0 ', 0],
  ['1.5', 1_500],
  ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
  ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ['-1', undefined],
  ['2030-01-01', undefined],
  ['120, 120', undefined],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After %j is %j ms', (header, pauseMs) => {
  expect(readRetryAfter(header, now)).toBe(pauseMs);
});
