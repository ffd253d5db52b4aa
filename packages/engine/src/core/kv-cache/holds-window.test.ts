import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdsWindow } from './holds-window.ts';

describe('holdsWindow', () => {
  it('is true of caches of whole contexts', () => {
    expect(holdsWindow([], { length: 1, writtenLength: 1_000 })).toBe(true);
  });

  it('needs the windows of all layers', () => {
    const long = { window: 3, capacity: 8 };
    const short = { window: 5, capacity: 9 };
    const prefix = { length: 10, writtenLength: 16 };
    expect([holdsWindow([long], prefix), holdsWindow([short], prefix)]).toEqual([true, false]);
    expect(holdsWindow([long, short], prefix)).toBe(false);
  });

  it('is true where a ring that was filled has every position of the window', () => {
    const lengths = fc.record({
      length: fc.integer({ min: 1, max: 40 }),
      moreLength: fc.nat(40),
      window: fc.integer({ min: 2, max: 9 }),
      spare: fc.nat(20),
    });
    fc.assert(
      fc.property(lengths, ({ length, moreLength, window, spare }) => {
        const capacity = window + spare;
        const writtenLength = length + moreLength;
        const ring: number[] = [];
        for (let position = 0; position < writtenLength; position++) ring[position % capacity] = position;
        let isWhole = true;
        for (let position = Math.max(0, length + 1 - window); position < length; position++)
          isWhole &&= ring[position % capacity] === position;
        expect(holdsWindow([{ window, capacity }], { length, writtenLength })).toBe(isWhole);
      }),
    );
  });
});
