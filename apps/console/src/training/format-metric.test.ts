import { expect, it } from 'vitest';
import { formatMetric } from './format-metric.ts';

it.each([
  [0.123456, '0.1235'],
  [-12, '-12'],
  [999_999, '1000000'],
  [-123_456_789.123, '-1.23e8'],
  [1e150, '1.00e150'],
])('writes %d with few digits', (value, text) => {
  expect(formatMetric(value)).toBe(text);
});
