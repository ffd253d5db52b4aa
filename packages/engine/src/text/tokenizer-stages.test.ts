import { describe, expect, test } from 'vitest';
import { checkTokenizerJson } from './tokenizer-json.ts';
import { adaptTokenizerJson } from './tokenizer-stages.ts';

const base = {
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: { type: 'ByteLevel' },
  model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
};
const adapt = (more: object) => adaptTokenizerJson(checkTokenizerJson({ ...base, ...more }));

describe('a stage that no golden covers is refused by name', () => {
  test.each([
    [{ normalizer: { type: 'Lowercase' } }, 'Lowercase'],
    [
      { normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Precompiled' }] } },
      'Precompiled',
    ],
    [{ pre_tokenizer: { type: 'BertPreTokenizer' } }, 'BertPreTokenizer'],
    [
      {
        pre_tokenizer: { type: 'Split', pattern: { Regex: 'a' }, behavior: 'MergedWithNext', invert: false },
      },
      'mergedwithnext',
    ],
    [
      { pre_tokenizer: { type: 'Split', pattern: { Regex: 'a' }, behavior: 'Isolated', invert: true } },
      'isolated inverted',
    ],
    [{ post_processor: { type: 'BertProcessing' } }, 'BertProcessing'],
    [{ model: { type: 'Unigram', vocab: {} } }, 'Unigram'],
    [{ model: { ...base.model, end_of_word_suffix: '</w>' } }, 'end_of_word_suffix'],
    [{ model: { ...base.model, dropout: 0.1 } }, 'dropout'],
  ])('%j', (more, named) => {
    expect(() => adapt(more)).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining(named) }),
    );
  });
});

test('files of the wrong shape are refused', () => {
  for (const value of [
    {},
    { model: 1 },
    { ...base, added_tokens: 1 },
    { ...base, added_tokens: [{ id: 'x' }] },
    { ...base, decoder: 'x' },
  ]) {
    expect(() => checkTokenizerJson(value)).toThrow(expect.objectContaining({ code: 'model_invalid' }));
  }
});

test('separators that stay with the piece before them are cut as the original cuts them', () => {
  const { pre_tokenizer } = adapt({
    pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
  });
  const { Regex } = (pre_tokenizer as unknown as { pattern: { Regex: string } }).pattern;
  expect('a  b c '.match(new RegExp(Regex, 'gu'))).toEqual(['a ', ' ', 'b ', 'c ']);
});

describe('a removed separator does not come back as a piece', () => {
  // The library splits by the pattern as JavaScript does, which keeps what a group of it captured.
  test.each([
    [{ String: ' ' }, 'a b  c', ['a', 'b', 'c']],
    [{ String: '.*' }, 'a.*b.c', ['a', 'b.c']],
    [{ Regex: '(\\s)+' }, 'a b  c', ['a', 'b', 'c']],
    [{ Regex: '(?<gap> )|([(])|\\(' }, 'a b(c', ['a', 'b', 'c']],
    [{ Regex: '(?<=a)-' }, 'a-b-c', ['a', 'b-c']],
  ])('%j', (pattern, text, pieces) => {
    const stage = { type: 'Split', pattern, behavior: 'Removed', invert: false };
    const { pre_tokenizer } = adapt({ pre_tokenizer: stage });
    const { Regex } = (pre_tokenizer as unknown as { pattern: { Regex: string } }).pattern;
    expect(text.split(new RegExp(Regex, 'gu')).filter(piece => piece !== '')).toEqual(pieces);
  });

  test('and a pattern that needs its captures is refused', () => {
    const stage = { type: 'Split', pattern: { Regex: '(a)\\1' }, behavior: 'Removed', invert: false };
    expect(() => adapt({ pre_tokenizer: stage })).toThrow(/backreference/);
  });
});
