import { describe, expect, test } from 'vitest';
import { countTurns } from '../../test/count-turns.ts';
import { parseTokenizer } from '../../test/parse-tokenizer.ts';
import { toPromptLogprobs, toTokenLogprob } from './logprob-text.ts';
import { TokenBytes } from './token-bytes.ts';

/** A byte-level vocabulary: a word with its space, one byte of a character, U+FFFD itself, a special token. */
const tokenBytes = new TokenBytes(
  parseTokenizer({
    model: { type: 'BPE', vocab: { Ġgood: 0, Ã: 1, 'ï¿½': 2 }, merges: [] },
    added_tokens: [
      {
        id: 3,
        content: '<|end|>',
        special: true,
        normalized: false,
        single_word: false,
        lstrip: false,
        rstrip: false,
      },
    ],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'ByteLevel' },
  }),
);

describe('toTokenLogprob', () => {
  test('gives each token its own text and true bytes; a part of a character has no text', () => {
    const found = toTokenLogprob(tokenBytes, {
      tokenId: 0,
      logprob: -1.5,
      rank: 2,
      topTokenIds: Int32Array.of(1, 0, 2, 3),
      topLogprobs: Float32Array.of(-1, -1.5, -3, -4),
    });
    const bytes = (...values: number[]) => Uint8Array.from(values);
    const good = {
      tokenId: 0,
      text: ' good',
      bytes: bytes(0x20, 0x67, 0x6f, 0x6f, 0x64),
      logprob: -1.5,
      rank: 2,
    };
    expect(found).toEqual({
      ...good,
      top: [
        { tokenId: 1, text: '', bytes: bytes(0xc3), logprob: -1, rank: 1 },
        good,
        { tokenId: 2, text: '\ufffd', bytes: bytes(0xef, 0xbf, 0xbd), logprob: -3, rank: 3 },
        { tokenId: 3, text: '<|end|>', bytes: new TextEncoder().encode('<|end|>'), logprob: -4, rank: 4 },
      ],
    });
    expect(found.bytes.buffer.byteLength).toBe(5);
  });

  test('gives equals the better rank and a forbidden token the lowest number', () => {
    const { top, logprob } = toTokenLogprob(tokenBytes, {
      tokenId: 3,
      logprob: -Infinity,
      rank: 4,
      topTokenIds: Int32Array.of(0, 1, 2),
      topLogprobs: Float32Array.of(-1, -2, -2),
    });
    expect(logprob).toBe(-9999);
    expect(top.map(({ rank }) => rank)).toEqual([1, 2, 2]);
  });
});

describe('toPromptLogprobs', () => {
  test('gives what each token gives alone, and lets others run meanwhile', async () => {
    const one = {
      tokenId: 0,
      logprob: -1,
      rank: 1,
      topTokenIds: Int32Array.of(0, 3),
      topLogprobs: Float32Array.of(-1, -2),
    };
    const logprobs = [null, ...Array.from({ length: 4_000 }, () => one)];
    const { value: found, turnCount } = await countTurns(() => toPromptLogprobs(tokenBytes, logprobs));
    expect(turnCount).toBeGreaterThan(5);
    expect(found).toHaveLength(logprobs.length);
    expect(found[0]).toBeNull();
    expect(found.at(-1)).toEqual(toTokenLogprob(tokenBytes, one));
  });
});
