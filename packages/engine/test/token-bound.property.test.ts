import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { longestTokenSpan } from '../src/text/token-bound.ts';
import { Tokenizer } from '../src/text/tokenizer.ts';
import { FAMILIES, loadFamilyFiles } from './tokenizer-families.ts';

describe.each(FAMILIES)('%s', family => {
  test('no text becomes fewer tokens than the bound says', { timeout: 30_000 }, () => {
    const files = loadFamilyFiles(family);
    const tokenizer = new Tokenizer(files);
    const span = longestTokenSpan(files.tokenizer, tokenizer.tokenBytes);
    const character = fc.constantFrom(' ', '\n', 'a', 'e\u0301', '\u1112\u1161\u11ab', '𝐀', '😀', '=', 'ㄱ');
    const run = fc.tuple(character, fc.nat(300)).map(([text, count]) => text.repeat(count));
    fc.assert(
      fc.property(fc.oneof(run, fc.string({ unit: 'binary' })), text => {
        const count = tokenizer.encode(text, { addSpecialTokens: false }).length;
        expect(count).toBeGreaterThanOrEqual(Math.ceil(Buffer.byteLength(text.toWellFormed()) / span));
      }),
    );
  });
});

test('every published family has a bound', () => {
  for (const family of FAMILIES.filter(name => name !== 'digits')) {
    const files = loadFamilyFiles(family);
    expect(longestTokenSpan(files.tokenizer, new Tokenizer(files).tokenBytes)).toBeLessThan(1000);
  }
}, 30_000);
