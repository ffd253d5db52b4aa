import { describe, expect, test } from 'vitest';
import { countTurns } from '../../test/count-turns.ts';
import { tokenizeBadWords, validateBadWords } from './bad-words.ts';

/** Answers from a table; no other text may be encoded. */
function tokenizer(table: Readonly<Record<string, readonly number[]>>) {
  return {
    encode: async (text: string, addSpecialTokens: boolean) => {
      expect(addSpecialTokens).toBe(false);
      const found = table[text];
      if (found === undefined) throw new Error(`"${text}" was not expected.`);
      return Int32Array.from(found);
    },
  };
}

describe('tokenizeBadWords', () => {
  test('takes the spaced form only when it is as long and begins with another token', async () => {
    const words = ['plain', 'long', 'same'];
    const table = {
      plain: [1],
      ' plain': [2],
      long: [3],
      ' long': [4, 3],
      same: [5, 6],
      ' same': [5, 7],
    };
    expect(await tokenizeBadWords(tokenizer(table), words)).toEqual([[1], [2], [3], [5, 6]]);
  });

  test('takes white space off the left of a word and leaves that on the right', async () => {
    expect(await tokenizeBadWords(tokenizer({ 'a ': [1], ' a ': [2] }), [' \n\u00a0a '])).toEqual([[1], [2]]);
  });

  test('refuses a word of white space and one without tokens, by its place', async () => {
    const refuse = (word: string) =>
      tokenizeBadWords(tokenizer({ a: [1], ' a': [2], '\u0000': [], ' \u0000': [9] }), ['a', word]);
    for (const word of [' \t', '\u0000']) {
      await expect(refuse(word)).rejects.toThrow(
        expect.objectContaining({ code: 'invalid_request', parameter: 'badWords[1]' }),
      );
    }
  });

  test('lets others run between words', async () => {
    const words = Array.from({ length: 1_000 }, (_, index) => `w${index}`);
    const table = Object.fromEntries(
      words.flatMap((word, index) => [
        [word, [index]],
        [` ${word}`, [index]],
      ]),
    );
    const { value, turnCount } = await countTurns(() => tokenizeBadWords(tokenizer(table), words));
    expect(value).toHaveLength(words.length);
    expect(turnCount).toBeGreaterThan(20);
  });
});

describe('bad words', () => {
  test.each([
    [['a', ''], 'badWords[1]'],
    [['a'.repeat(257)], 'badWords[0]'],
    [Array<string>(1025).fill('a'), 'badWords'],
    [Array<string>(100).fill('a'.repeat(200)), 'badWords'],
  ])('out of range are refused by their path (%#)', (words, parameter) => {
    expect(() => validateBadWords(words)).toThrow(
      expect.objectContaining({ code: 'invalid_request', parameter }),
    );
  });

  test('are named once each', () => {
    expect(validateBadWords(['b', 'a', 'b'])).toEqual(['b', 'a']);
  });
});
