import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GAP_PATTERN, type GapState, nextGapState, OUTSIDE, TOO_WIDE } from './json-whitespace.ts';

function walk(text: string): GapState {
  let state: GapState = OUTSIDE;
  for (const byte of new TextEncoder().encode(text)) {
    state = nextGapState(state, byte);
    if (state === TOO_WIDE) break;
  }
  return state;
}

const gaps = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 4 });
const indents = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 17, max: 22 }), fc.constantFrom(' ', '\t'))
  .map(([lineEnds, length, blank]) => '\n'.repeat(lineEnds) + blank.repeat(length));

describe('the bytes of a gap', () => {
  it('are followed exactly as the pattern says', () => {
    const pattern = new RegExp(`^${GAP_PATTERN}$`);
    fc.assert(
      fc.property(fc.oneof(gaps, indents), gap => {
        expect(walk(`[${gap}`) !== TOO_WIDE, JSON.stringify(gap)).toBe(pattern.test(gap));
      }),
      { numRuns: 500 },
    );
  });

  it('count anew behind every other byte, and not inside strings', () => {
    expect(walk('[ 1 , 2 ]')).toBe(OUTSIDE);
    expect(walk('"  \\"  \n\n\n "')).toBe(OUTSIDE);
    expect(walk('"\\\\"  ')).toBe(TOO_WIDE);
  });

  it('leave room for indented lines and for the empty line behind a thought', () => {
    const value = { a: [1, { b: { c: [] } }], d: 'x  y' };
    for (const indent of [2, 4, '\t']) expect(walk(JSON.stringify(value, null, indent))).toBe(OUTSIDE);
    expect(walk('\n\n{}')).toBe(OUTSIDE);
  });
});
