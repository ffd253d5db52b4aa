import { describe, expect, test } from 'vitest';
import { checkTokenizerJson } from './tokenizer-json.ts';

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
