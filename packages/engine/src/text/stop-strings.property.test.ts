import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StopStringMatcher } from './stop-strings.ts';

// A small alphabet with a surrogate pair makes matches and near misses likely.
const letter = fc.constantFrom('a', 'b', '😀', '👍', 'é');
const word = (minLength: number, maxLength: number) =>
  fc.array(letter, { minLength, maxLength }).map(letters => letters.join(''));
const pieces = fc.array(word(0, 4), { maxLength: 12 });
const stops = fc.array(word(1, 4), { minLength: 1, maxLength: 4 });

/** The rule on the whole text: the earliest place where a stop string ends, in text that may end one. */
function naiveMatch(pieceList: readonly string[], stopList: readonly string[], minPieces: number) {
  const text = pieceList.join('');
  const firstEnd = pieceList.slice(0, minPieces).join('').length + 1;
  for (let end = firstEnd; end <= text.length; end++) {
    const stop = stopList.find(candidate => text.slice(0, end).endsWith(candidate));
    if (stop !== undefined) return { stop, end };
  }
  return null;
}

describe('stop strings', () => {
  test('cut the text where the naive search of the whole text would', () => {
    fc.assert(
      fc.property(
        pieces,
        stops,
        fc.boolean(),
        fc.nat(6),
        (pieceList, stopList, includeInOutput, minPieces) => {
          const matcher = new StopStringMatcher({ strings: stopList, includeInOutput });
          let out = '';
          let stop: string | null = null;
          for (const [index, piece] of pieceList.entries()) {
            const result = matcher.push(piece, index >= minPieces);
            out += result.emit;
            expect(out.isWellFormed()).toBe(true);
            if (result.kind === 'matched') {
              stop = result.stop;
              break;
            }
          }
          if (stop === null) out += matcher.flush();
          const expected = naiveMatch(pieceList, stopList, minPieces);
          const whole = pieceList.join('');
          expect(stop).toBe(expected?.stop ?? null);
          if (expected === null) expect(out).toBe(whole);
          else
            expect(out).toBe(
              whole.slice(0, includeInOutput ? expected.end : expected.end - expected.stop.length),
            );
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('hold back the longest stop string less one character, counted in code points', () => {
    const matcher = new StopStringMatcher({ strings: ['xyz'], includeInOutput: false });
    expect(matcher.push('a😀👍', true)).toEqual({ kind: 'open', emit: 'a' });
    expect(matcher.flush()).toBe('😀👍');
  });

  test('hold back nothing when the match is part of the output', () => {
    const matcher = new StopStringMatcher({ strings: ['xyz'], includeInOutput: true });
    expect(matcher.push('axy', true)).toEqual({ kind: 'open', emit: 'axy' });
    expect(matcher.push('zb', true)).toEqual({ kind: 'matched', emit: 'z', stop: 'xyz' });
  });

  test('that end at the same place are decided by the order of the list', () => {
    const matcher = new StopStringMatcher({ strings: ['bc', 'abc'], includeInOutput: false });
    expect(matcher.push('xabc', true)).toEqual({ kind: 'matched', emit: 'xa', stop: 'bc' });
  });

  test('that were complete within the minimum are not found later', () => {
    const matcher = new StopStringMatcher({ strings: ['ab'], includeInOutput: false });
    expect(matcher.push('ab', false).kind).toBe('open');
    expect(matcher.push('c', true).kind).toBe('open');
    expect(matcher.push('ab', true)).toEqual({ kind: 'matched', emit: 'c', stop: 'ab' });
  });
});
