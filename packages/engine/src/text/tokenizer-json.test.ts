import { describe, expect, test } from 'vitest';
import { checkTokenizerJson, withConfiguredTokens } from './tokenizer-json.ts';

const withVocab = (id: unknown) => ({ model: { type: 'BPE', vocab: { a: 0, b: id }, merges: [] } });
const withAdded = (id: unknown) => ({ ...withVocab(1), added_tokens: [{ id, content: '<x>' }] });

describe('tokenizer.json', () => {
  test.each(['zero', -1, 0.5, 1e12, null])('with the token id %j is refused, and the token is named', id => {
    expect(() => checkTokenizerJson(withVocab(id))).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining('"b"') }),
    );
    expect(() => checkTokenizerJson(withAdded(id))).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining('added_tokens[0]') }),
    );
  });

  test('with whole numbers as ids is taken', () => {
    expect(checkTokenizerJson(withAdded(2)).added_tokens[0]).toMatchObject({ id: 2, content: '<x>' });
  });
});

describe('added tokens of tokenizer_config.json', () => {
  const tokenizer = checkTokenizerJson(withAdded(2));

  test('take the place of those with the same text, and others join them', () => {
    const configured = {
      2: { content: '<x>', rstrip: true, special: true },
      3: { content: '<y>', special: true },
    };
    const { added_tokens: tokens } = withConfiguredTokens(tokenizer, configured);
    expect(tokens).toEqual([
      {
        id: 2,
        content: '<x>',
        single_word: false,
        lstrip: false,
        rstrip: true,
        normalized: false,
        special: true,
      },
      expect.objectContaining({ id: 3, content: '<y>', rstrip: false }),
    ]);
  });

  test('are refused by their place when they are none', () => {
    for (const entry of [null, {}, { content: 1 }])
      expect(() => withConfiguredTokens(tokenizer, { 5: entry })).toThrow('"added_tokens_decoder.5"');
    expect(() => withConfiguredTokens(tokenizer, { five: { content: '<z>' } })).toThrow(
      'tokenizer_config.json',
    );
  });
});
