// Holds encoding and decoding of nine tokenizers to what Python `tokenizers` gives, and our own rules to each of
// them. One file, because large vocabularies take seconds to load.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { IS_FULL_RUN } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { detokenize } from '../src/text/detokenizer.ts';
import { detokenizerSuite } from './detokenizer.suite.ts';
import { checkProvenance, readGolden } from './golden-file.ts';
import { tokenBoundSuite } from './token-bound.suite.ts';
import { FAMILIES, type Family, familyDir, loadFamily, SMALL_FAMILIES } from './tokenizer-families.ts';

interface FamilyGolden {
  readonly encoded: readonly { ids: number[]; idsWithSpecial?: number[]; decoded?: string }[];
  readonly decoded: readonly {
    ids: number[];
    text: string;
    textWithoutSpecial: string;
    /** A run of byte tokens with both whole characters and bad bytes; see the last test. */
    mixedByteRun?: boolean;
  }[];
}

const { texts } = readGolden<{ texts: string[] }>('tokenizer-texts.json', ['tokenizers']);
const LOAD_TIMEOUT_MS = 30_000;

describe('golden provenance', () => {
  it('refuses a golden that does not say which version made it', () => {
    expect(() =>
      checkProvenance({ provenance: { script: 'a.py', python: '3' } }, 'x.json', ['tokenizers']),
    ).toThrow('does not say its "tokenizers"');
  });
});

/** Large vocabularies take seconds each, so a daily run loads one: that of the models that most people serve. */
const isLeftOut = (family: Family) =>
  !IS_FULL_RUN && family !== 'qwen3' && !(SMALL_FAMILIES as readonly string[]).includes(family);
const nameOf = (family: Family) =>
  `${family}${isLeftOut(family) ? ' (skipped: TEST_RUNS=full loads it)' : ''}`;

for (const family of FAMILIES)
  describe.skipIf(isLeftOut(family))(nameOf(family), () => describeFamily(family));

function describeFamily(family: Family): void {
  const golden = readGolden<FamilyGolden>(`tokenizer-${family}.json`, ['tokenizers', 'tokenizerSha256']);

  it('is the very tokenizer the golden was made with', () => {
    const content = readFileSync(`${familyDir(family)}tokenizer.json`);
    expect(createHash('sha256').update(content).digest('hex')).toBe(golden.provenance.tokenizerSha256);
  });

  it('encodes every text as the original does', { timeout: LOAD_TIMEOUT_MS }, () => {
    const tokenizer = loadFamily(family);
    expect(texts.length).toBe(golden.encoded.length);
    const wrong = texts.flatMap((text, i) => {
      const expected = golden.encoded[i]!;
      const plain = tokenizer.encode(text, { addSpecialTokens: false });
      const special = tokenizer.encode(text, { addSpecialTokens: true });
      const isRight = same(plain, expected.ids) && same(special, expected.idsWithSpecial ?? expected.ids);
      return isRight ? [] : [{ text, plain, special, expected }];
    });
    expect(wrong).toEqual([]);
  });

  it('decodes the ids of every text as the original does', () => {
    const { tokenBytes } = loadFamily(family);
    const wrong = texts.flatMap((text, i) => {
      const expected = golden.encoded[i]!;
      const decoded = detokenize(tokenBytes, expected.ids, { skipSpecialTokens: false });
      return decoded === (expected.decoded ?? text) ? [] : [{ text, decoded, expected }];
    });
    expect(wrong).toEqual([]);
  });

  it('decodes random ids as the original does, with and without special tokens', () => {
    const { tokenBytes } = loadFamily(family);
    const wrong = golden.decoded.flatMap(({ ids, text, textWithoutSpecial, mixedByteRun }) => {
      if (mixedByteRun) return [];
      const all = detokenize(tokenBytes, ids, { skipSpecialTokens: false });
      const visible = detokenize(tokenBytes, ids, { skipSpecialTokens: true });
      return all === text && visible === textWithoutSpecial
        ? []
        : [{ ids, text, all, textWithoutSpecial, visible }];
    });
    expect(wrong).toEqual([]);
  });

  // The original replaces a whole run of byte tokens when one byte of it is bad. A stream cannot know the end
  // of the run, so here complete characters of such a run stay: the same text with some U+FFFD made readable.
  it('keeps the complete characters of a run of byte tokens that has bad bytes', () => {
    const { tokenBytes } = loadFamily(family);
    for (const { ids, text, mixedByteRun } of golden.decoded) {
      if (!mixedByteRun) continue;
      const ours = detokenize(tokenBytes, ids, { skipSpecialTokens: false });
      expect(toByteCount(ours, tokenBytes.replacesEachByte)).toBe(
        toByteCount(text, tokenBytes.replacesEachByte),
      );
    }
  });

  detokenizerSuite(family);
  tokenBoundSuite(family);
}

/** Bytes that a decoded text stands for when each U+FFFD stands for one. */
function toByteCount(text: string, replacesEachByte: boolean): number {
  expect(replacesEachByte).toBe(true);
  let count = 0;
  for (const character of text) count += character === '\ufffd' ? 1 : Buffer.byteLength(character);
  return count;
}

function same(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((id, i) => id === right[i]);
}
