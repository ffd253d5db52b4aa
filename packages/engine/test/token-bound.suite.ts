// For one family: the bound on the fewest tokens of a text holds. Run by tokenizers.test.ts.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { expect, test } from 'vitest';
import { longestTokenSpan } from '../src/text/token-bound.ts';
import { type Family, loadFamily, loadFamilyFiles } from './tokenizer-families.ts';

export function tokenBoundSuite(family: Family): void {
  // It encodes much text with each family, which takes a busy machine longer than other tests.
  test('no text becomes fewer tokens than the bound says', { timeout: 180_000 }, () => {
    const tokenizer = loadFamily(family);
    const span = longestTokenSpan(loadFamilyFiles(family).tokenizer, tokenizer.tokenBytes);
    // The made-up family has tokens that eat spaces, which rules every bound out.
    if (family === 'digits') expect(span).toBe(Number.POSITIVE_INFINITY);
    else expect(span).toBeLessThan(1000);
    const character = fc.constantFrom(' ', '\n', 'a', 'e\u0301', '\u1112\u1161\u11ab', '𝐀', '😀', '=', 'ㄱ');
    const run = fc.tuple(character, fc.nat(200)).map(([text, count]) => text.repeat(count));
    fc.assert(
      fc.property(fc.oneof(run, fc.string({ unit: 'binary' })), text => {
        const count = tokenizer.encode(text, { addSpecialTokens: false }).length;
        expect(count).toBeGreaterThanOrEqual(Math.ceil(Buffer.byteLength(text.toWellFormed()) / span));
      }),
      { numRuns: runs({ daily: 10, full: 50 }) },
    );
  });
}
