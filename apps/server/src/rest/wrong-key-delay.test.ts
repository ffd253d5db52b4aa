import { expect, it } from 'vitest';
import { createWrongKeyDelay } from './wrong-key-delay.ts';

const create = () => {
  const clock = { nowMs: 0 };
  return { clock, delay: createWrongKeyDelay(() => clock.nowMs) };
};

it('answers ten wrong keys of an address at once, and each further one later, up to five seconds', () => {
  const { delay } = create();
  const delays = Array.from({ length: 60 }, () => delay.next('10.0.0.1'));
  expect(delays.slice(0, 10)).toEqual(Array(10).fill(0));
  expect(delays.slice(10, 13)).toEqual([250, 500, 750]);
  expect(delays.at(-1)).toBe(5_000);
});

it('forgets a wrong key each second', () => {
  const { clock, delay } = create();
  for (let count = 0; count < 60; count++) delay.next('10.0.0.1');
  clock.nowMs = 21_000;
  expect(delay.next('10.0.0.1')).toBe(0);
});

it('does not slow other addresses, but those of the same site', () => {
  const { delay } = create();
  for (let count = 0; count < 20; count++) delay.next('2001:db8:1:2::1');
  expect(delay.next('10.0.0.2')).toBe(0);
  expect(delay.next('2001:db8:1:3::1')).toBe(0);
  expect(delay.next('2001:db8:1:2:aaaa::9')).toBeGreaterThan(0);
});
