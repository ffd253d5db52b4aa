import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { UuidV7Source } from './uuid-v7.ts';

const NOW_MS = 1_790_000_000_000;

it('makes UUIDs of version 7 with the time in front', () => {
  const id = new UuidV7Source(randomBytes).next(NOW_MS);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(NOW_MS);
});

it('makes ids that sort in their order, also in one millisecond and when the clock goes back', () => {
  const source = new UuidV7Source(randomBytes);
  const times = [...Array<number>(10_000).fill(NOW_MS), NOW_MS - 5, NOW_MS - 5, NOW_MS + 60, NOW_MS + 61];
  const ids = times.map(time => source.next(time));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(times.length);
});
