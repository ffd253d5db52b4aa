import { describe, expect, it } from 'vitest';
import { nextTurn } from './loop-turns.ts';

describe('turns of the event loop', () => {
  it('are given one by one, in the order in which they were asked for, and other callbacks come in between', async () => {
    const events: string[] = [];
    const work = async (name: string) => {
      for (let step = 0; step < 3; step++) {
        await nextTurn();
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
