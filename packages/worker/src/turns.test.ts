import { describe, expect, it } from 'vitest';
import { nextTurn, Turns } from './turns.ts';

/** What happens while `work` runs: its own events, and `-` for each turn of the event loop. */
async function record(work: (note: (event: string) => void) => Promise<unknown>): Promise<string> {
  const events: string[] = [];
  let isDone = false;
  const watch = () => {
    if (isDone) return;
    events.push('-');
    setImmediate(watch);
  };
  setImmediate(watch);
  await work(event => events.push(event));
  isDone = true;
  return events.join('');
}

describe('turns of the event loop', () => {
  it('resume one waiting task each, round-robin', async () => {
    const events = await record(note => {
      const work = async (name: string) => {
        for (let step = 0; step < 3; step++) {
          await nextTurn();
          note(name);
        }
      };
      return Promise.all([work('a'), work('b')]);
    });
    expect(events.replaceAll('-', '')).toBe('ababab');
    expect(events).not.toMatch(/[ab]{2}/);
  });

  it('hold one slice of many long loops', async () => {
    const events = await record(note => {
      const work = async (name: string) => {
        const turns = new Turns();
        for (let slice = 0; slice < 3; slice++) {
          busyFor(3);
          note(name);
          await turns.pause();
        }
      };
      return Promise.all(['a', 'b', 'c', 'd'].map(work));
    });
    // The first slices are work of the caller, before any pause.
    expect(events.slice(0, 4)).toBe('abcd');
    expect(events.slice(4)).not.toMatch(/[abcd]{2}/);
  });

  it('do not interrupt short work', async () => {
    const events = await record(async note => {
      const turns = new Turns();
      for (let step = 0; step < 3; step++) {
        await turns.pause();
        note('a');
      }
    });
    expect(events).toBe('aaa');
  });
});

function busyFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}
