import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

it('lets timers run in a long loop of work', async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const turns = new Turns();
  const end = performance.now() + 60;
  while (performance.now() < end) await turns.pause();
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(0);
});
