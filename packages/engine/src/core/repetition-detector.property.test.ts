// The detector against the published rule, which looks at the whole tail of the output after each token.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RepetitionDetection } from '../request/generation-request.ts';
import { RepetitionDetector } from './repetition-detector.ts';

function endsInLoop(output: readonly number[], settings: RepetitionDetection): boolean {
  const { minPatternSize, maxPatternSize, minCount } = settings;
  for (let size = Math.max(minPatternSize, 1); size <= maxPatternSize; size++) {
    if (size * minCount > output.length) return false;
    const tail = output.slice(-size * minCount);
    if (tail.every((id, index) => id === tail[index % size])) return true;
  }
  return false;
}

/** How many tokens are taken until a loop is found; null when none is. */
function foundAfter(tokens: readonly number[], settings: RepetitionDetection): number | null {
  const detector = new RepetitionDetector(settings, tokens.length);
  const output: number[] = [];
  for (const token of tokens) {
    output.push(token);
    detector.add(output);
    if (detector.isRepeating) return output.length;
  }
  return null;
}

const settings = fc
  .record({
    minPatternSize: fc.nat({ max: 4 }),
    more: fc.nat({ max: 6 }),
    minCount: fc.integer({ min: 2, max: 5 }),
  })
  .map(({ minPatternSize, more, minCount }) => ({
    minPatternSize,
    maxPatternSize: Math.max(1, minPatternSize + more),
    minCount,
  }));

describe('RepetitionDetector', () => {
  it('says after each token what the rule says of the output so far', () => {
    const tokens = fc.array(fc.nat({ max: 1 }), { maxLength: 40 });
    fc.assert(
      fc.property(settings, tokens, (one, all) => {
        const detector = new RepetitionDetector(one, all.length);
        const output: number[] = [];
        for (const token of all) {
          output.push(token);
          detector.add(output);
          expect(detector.isRepeating).toBe(endsInLoop(output, one));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('finds the published examples', () => {
    const pairs = [7, 8, 7, 8, 7, 8];
    expect(foundAfter(pairs, { maxPatternSize: 5, minPatternSize: 2, minCount: 3 })).toBe(6);
    expect(foundAfter([1, 1, 1], { maxPatternSize: 1, minPatternSize: 0, minCount: 3 })).toBe(3);
    expect(foundAfter(pairs, { maxPatternSize: 5, minPatternSize: 3, minCount: 3 })).toBeNull();
  });

  it('takes sizes that no output reaches, without memory for them', () => {
    const huge = { minPatternSize: 1, maxPatternSize: Number.MAX_SAFE_INTEGER, minCount: 2 };
    expect(foundAfter([1, 2, 3, 1, 2, 3], huge)).toBe(6);
    expect(foundAfter([1, 1, 1], { ...huge, minPatternSize: Number.MAX_SAFE_INTEGER })).toBeNull();
  });
});
