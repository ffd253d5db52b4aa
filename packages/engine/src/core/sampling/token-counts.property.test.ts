import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenCounts } from './token-counts.ts';

const tokens = fc.array(fc.nat({ max: 4 }), { maxLength: 20 });

function countsOf(tokenIds: readonly number[]): TokenCounts {
  const counts = new TokenCounts();
  for (const tokenId of tokenIds) counts.add(tokenId);
  return counts;
}

test('counts are as before when the tokens added last are taken back', () => {
  fc.assert(
    fc.property(tokens, tokens, tokens, (kept, taken, later) => {
      const counts = countsOf([...kept, ...taken]);
      for (const tokenId of taken.toReversed()) counts.remove(tokenId);
      for (const tokenId of later) counts.add(tokenId);
      const { tokenIds, counts: times } = countsOf([...kept, ...later]);
      expect([counts.tokenIds, counts.counts]).toEqual([tokenIds, times]);
    }),
  );
});
