// Short and long words are merged by different means, which give what the rule says: the pair of the lowest rank first, the leftmost
// of them before the others.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { expect, test } from 'vitest';
import { MergeTable } from './merge-table.ts';
import { mergeWord } from './merge-word.ts';

type Merge = readonly [left: number, right: number, merged: number];

function mergeByRule(word: readonly number[], merges: readonly Merge[]): number[] {
  const ids = [...word];
  for (;;) {
    let best: { readonly rank: number; readonly at: number } | undefined;
    for (let at = 0; at + 1 < ids.length; at++) {
      const rank = merges.findIndex(([left, right]) => left === ids[at] && right === ids[at + 1]);
      if (rank !== -1 && (best === undefined || rank < best.rank)) best = { rank, at };
    }
    if (best === undefined) return ids;
    ids.splice(best.at, 2, merges[best.rank]![2]);
  }
}

const letter = fc.nat(3);
/** Each merge makes a token of its own out of two that were there before it. */
const merges = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 40 }).map(pairs => {
  const made: Merge[] = [];
  for (const [left, right] of pairs) {
    const known = 4 + made.length;
    const pair = [left % known, right % known] as const;
    if (made.every(([a, b]) => a !== pair[0] || b !== pair[1])) made.push([...pair, known]);
  }
  return made;
});

test('words of every length are merged by the rule', () => {
  fc.assert(
    fc.property(merges, fc.array(letter, { maxLength: 120 }), (made, word) => {
      const table = new MergeTable();
      for (const merge of made) table.add(...merge);
      const ids = Int32Array.from(word);
      const count = mergeWord(ids, word.length, table);
      expect([...ids.subarray(0, count)]).toEqual(mergeByRule(word, made));
    }),
    { numRuns: runs({ daily: 300, full: 5000 }) },
  );
});

test('a table grows past its first size and keeps every merge', () => {
  const table = new MergeTable();
  for (let i = 0; i < 5000; i++) table.add(i, i * 31, i + 7);
  for (let i = 0; i < 5000; i++) expect(table.mergedOf(table.rankOf(i, i * 31))).toBe(i + 7);
  expect(table.rankOf(1, 2)).toBe(-1);
});
