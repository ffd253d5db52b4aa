import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from './yield-to-event-loop.ts';

describe('yielding to the event loop', () => {
  it('resumes waiting tasks round-robin, one per turn, with other callbacks in between', async () => {
    const events: string[] = [];
    const work = async (name: string) => {
      for (let step = 0; step < 3; step++) {
        await yieldToEventLoop();
        events.push(name);
      }
    };
    const all = Promise.all([work('a'), work('b')]);
    let isDone = false;
    const watch = () => {
      if (isDone) return;
      events.push('-');
      setImmediate(watch);
    };
    setImmediate(watch);
    await all;
    isDone = true;
    expect(events.filter(event => event !== '-').join('')).toBe('ababab');
    expect(events.join('')).not.toMatch(/[ab]{2}/);
  });
});
