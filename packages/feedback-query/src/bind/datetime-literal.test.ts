// Which literals are dates, and their time.
import { describe, expect, it } from 'vitest';
import { parseDatetimeLiteral } from './datetime-literal.ts';

const iso = (value: string | number) => {
  const epochMs = parseDatetimeLiteral(value);
  return epochMs === null ? null : new Date(epochMs).toISOString();
};

describe('parseDatetimeLiteral', () => {
  it.each([
    ['2026-01-07', '2026-01-07T00:00:00.000Z'],
    ['2026-01-07T01:02', '2026-01-07T01:02:00.000Z'],
    ['2026-01-07T01:02:03', '2026-01-07T01:02:03.000Z'],
    ['2026-01-07 01:02:03.5', '2026-01-07T01:02:03.500Z'],
    ['2026-01-07T01:02:03.123987z', '2026-01-07T01:02:03.123Z'],
    ['2026-01-07T01:02:03+02:00', '2026-01-06T23:02:03.000Z'],
    ['2026-01-07T01:02:03-0330', '2026-01-07T04:32:03.000Z'],
    ['2026-01-07T01:02:03+05', '2026-01-06T20:02:03.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
    [1767744000.25, '2026-01-07T00:00:00.250Z'],
    [-1, '1969-12-31T23:59:59.000Z'],
  ])('reads %j as %s', (value, expected) => {
    expect(iso(value)).toBe(expected);
  });

  it.each(['', 'now', '2026', '2026-13-01', '2026-02-30', '2026-01-07T25:00', '2026-01-07T01', 1e15, -1e15])(
    'takes %j for no moment',
    value => {
      expect(iso(value)).toBeNull();
    },
  );
});
