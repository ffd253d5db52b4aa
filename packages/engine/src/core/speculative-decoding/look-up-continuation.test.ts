import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lookUpContinuation } from './look-up-continuation.ts';

function lookUp(tokens: readonly number[], length: number): number[] | null {
  // Elements after the tokens must not be read.
  const tokenIds = Int32Array.from([...tokens, ...tokens]);
  const target = new Int32Array(length);
  return lookUpContinuation(tokenIds, tokens.length, target) ? [...target] : null;
}

/** The same by trying every place and copying token by token to the end of the text. */
function lookUpSlowly(tokens: readonly number[], length: number): number[] | null {
  let best: { readonly length: number; readonly end: number } | null = null;
  for (let end = 1; end < tokens.length; end++) {
    let matched = 0;
    while (matched < end && matched < 8 && tokens[end - 1 - matched] === tokens.at(-1 - matched)) matched++;
    if (matched >= 3 && matched >= (best?.length ?? 0)) best = { length: matched, end };
  }
  if (best === null) return null;
  const text = [...tokens];
  for (let i = 0; i < length; i++) text.push(text[best.end + i]!);
  return text.slice(tokens.length);
}

describe('lookUpContinuation', () => {
  it('gives what followed the last three tokens where they stood before', () => {
    expect(lookUp([1, 2, 3, 4, 5, 6, 9, 1, 2, 3], 4)).toEqual([4, 5, 6, 9]);
  });

  it('finds nothing when only the last two tokens stood before', () => {
    expect(lookUp([7, 2, 3, 4, 5, 1, 2, 3], 4)).toBeNull();
    expect(lookUp([1, 1, 1], 2)).toBeNull();
    expect(lookUp([], 2)).toBeNull();
  });

  it('prefers the longer match to the later one, and the later of equals', () => {
    expect(lookUp([5, 1, 2, 3, 10, 6, 1, 2, 3, 11, 5, 1, 2, 3], 1)).toEqual([10]);
    expect(lookUp([5, 1, 2, 3, 10, 6, 1, 2, 3, 11, 7, 1, 2, 3], 1)).toEqual([11]);
  });

  it('continues a loop beyond the end of the text', () => {
    expect(lookUp([8, 8, 8, 8], 3)).toEqual([8, 8, 8]);
    expect(lookUp([1, 2, 1, 2, 1, 2, 1], 5)).toEqual([2, 1, 2, 1, 2]);
  });

  it('equals the search through every place', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2 }), { maxLength: 60 }), fc.nat({ max: 20 }), (tokens, length) => {
        expect(lookUp(tokens, length)).toEqual(lookUpSlowly(tokens, length));
      }),
      { numRuns: 500 },
    );
  });
});
