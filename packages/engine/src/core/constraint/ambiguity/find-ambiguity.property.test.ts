// Against counting: a matcher that backtracks as ECMA-262 says, and counts every way to its end.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findAmbiguity } from './find-ambiguity.ts';

type Tree =
  | { readonly kind: 'letter'; readonly letters: string }
  | { readonly kind: 'both' | 'either'; readonly parts: readonly Tree[] }
  | { readonly kind: 'count'; readonly part: Tree; readonly least: number; readonly most: number };

const LONGEST_WORD = 9;

const { tree } = fc.letrec<{ tree: Tree }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('letter' as const),
        letters: fc.constantFrom('a', 'b', 'ab'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('both' as const, 'either' as const),
        parts: fc.array(tie('tree'), { minLength: 1, maxLength: 2 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie('tree'), fc.constantFrom([0, 1], [0, Infinity], [1, Infinity], [1, 2], [2, 2], [0, 2]))
        .map(([part, [least, most]]) => ({ kind: 'count' as const, part, least: least!, most: most! })),
    },
  ),
}));

function print(node: Tree): string {
  switch (node.kind) {
    case 'letter':
      return `[${node.letters}]`;
    case 'both':
      return node.parts.map(part => `(?:${print(part)})`).join('');
    case 'either':
      return `(?:${node.parts.map(print).join('|')})`;
    case 'count':
      return `(?:${print(node.part)}){${node.least},${node.most === Infinity ? '' : node.most}}`;
  }
}

/** In how many ways the part matches a beginning of the text that the rest then goes on behind. */
function countWays(node: Tree, text: string, at: number, rest: (at: number) => number): number {
  switch (node.kind) {
    case 'letter':
      return node.letters.includes(text[at] ?? '-') ? rest(at + 1) : 0;
    case 'both': {
      const from = (index: number, place: number): number =>
        index === node.parts.length
          ? rest(place)
          : countWays(node.parts[index]!, text, place, next => from(index + 1, next));
      return from(0, at);
    }
    case 'either':
      return node.parts.reduce((sum, part) => sum + countWays(part, text, at, rest), 0);
    case 'count': {
      // RepeatMatcher: an iteration that need not be there never takes the empty text.
      const iterate = (done: number, place: number): number => {
        const more =
          done === node.most
            ? 0
            : countWays(node.part, text, place, next =>
                done >= node.least && next === place ? 0 : iterate(done + 1, next),
              );
        return more + (done >= node.least ? rest(place) : 0);
      };
      return iterate(0, at);
    }
  }
}

const WORDS = Array.from({ length: LONGEST_WORD + 1 }, (_, length) =>
  Array.from({ length: 2 ** length }, (_, code) =>
    Array.from({ length }, (_, bit) => ((code >> bit) & 1 ? 'b' : 'a')).join(''),
  ),
).flat();

describe('the look for ambiguity', () => {
  it('finds a repetition exactly when a text is read by it in two ways, which each copy of the text then doubles', () => {
    let ambiguous = 0;
    fc.assert(
      fc.property(tree, content => {
        const loop: Tree = { kind: 'count', part: content, least: 0, most: Infinity };
        const end = (text: string) => (at: number) => (at === text.length ? 1 : 0);
        const ways = (text: string) => countWays(loop, text, 0, end(text));
        const twice = WORDS.find(word => ways(word) > 1);
        const found = findAmbiguity(`${print(loop)}c`, { notation: 'ecma', extent: 'search' });
        if (twice !== undefined) {
          ambiguous++;
          expect(ways(twice.repeat(4))).toBeGreaterThanOrEqual(2 ** 4);
        }
        expect({ pattern: print(loop), isFound: found !== null }).toEqual({
          pattern: print(loop),
          isFound: twice !== undefined,
        });
      }),
      { numRuns: 300, seed: 20_261 },
    );
    expect(ambiguous).toBeGreaterThan(50);
    expect(ambiguous).toBeLessThan(250);
  });

  it('counts the ways of what JavaScript matches', () => {
    fc.assert(
      fc.property(tree, fc.constantFrom(...WORDS.filter(word => word.length < 6)), (content, word) => {
        const isMatch = countWays(content, word, 0, at => (at === word.length ? 1 : 0)) > 0;
        expect(isMatch).toBe(new RegExp(`^(?:${print(content)})$`).test(word));
      }),
      { numRuns: 500, seed: 20_262 },
    );
  });
});
