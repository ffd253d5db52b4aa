import { describe, expect, it } from 'vitest';
import { byteLevel, type Changes, errorOf, readChanged, sentencePiece } from '../../test/made-up-metadata.ts';
import type { GgufValue } from '../metadata.ts';

describe('contradictory metadata', () => {
  const cases: readonly (readonly [string, Map<string, GgufValue>, Changes, string, string])[] = [
    ['no tokens', byteLevel(), { 'tokenizer.ggml.tokens': undefined }, 'tokens', 'is missing'],
    ['an empty list of tokens', byteLevel(), { 'tokenizer.ggml.tokens': [] }, 'tokens', 'has no tokens'],
    [
      'a token twice',
      byteLevel(),
      { 'tokenizer.ggml.tokens': ['a', 'b', 'a'], 'tokenizer.ggml.token_type': undefined },
      'tokens',
      'has "a" twice, as ids 0 and 2',
    ],
    [
      'tokens that are numbers',
      byteLevel(),
      { 'tokenizer.ggml.tokens': Int32Array.of(1) },
      'tokens',
      'must be an array of strings, found an array of another type',
    ],
    [
      'fewer types than tokens',
      byteLevel(),
      { 'tokenizer.ggml.token_type': Int32Array.of(1, 1) },
      'token_type',
      'has 2 numbers for 10 tokens (tokenizer.ggml.tokens)',
    ],
    [
      'an unknown type',
      byteLevel(),
      { 'tokenizer.ggml.token_type': Int32Array.of(1, 1, 7, 1, 1, 1, 1, 1, 1, 1) },
      'token_type',
      'gives id 2 the unknown type 7',
    ],
    ['no merges', byteLevel(), { 'tokenizer.ggml.merges': undefined }, 'merges', 'is missing'],
    [
      'a merge of an unknown token',
      byteLevel(),
      { 'tokenizer.ggml.merges': ['a b', 'ab q'] },
      'merges',
      'merge 1 is "ab q", but "q" is not a token',
    ],
    [
      'a merge to an unknown token',
      byteLevel(),
      { 'tokenizer.ggml.merges': ['b a'] },
      'merges',
      'merge 0 is "b a", but "ba" is not a token',
    ],
    [
      'a merge of one token',
      byteLevel(),
      { 'tokenizer.ggml.merges': ['ab'] },
      'merges',
      'merge 0 is "ab", not two tokens with a space between',
    ],
    ['no scores', sentencePiece(), { 'tokenizer.ggml.scores': undefined }, 'scores', 'is missing'],
    [
      'fewer scores than tokens',
      sentencePiece(),
      { 'tokenizer.ggml.scores': Float32Array.of(1) },
      'scores',
      'has 1 numbers for 11 tokens (tokenizer.ggml.tokens)',
    ],
    [
      'a score that is not a number',
      sentencePiece(),
      { 'tokenizer.ggml.scores': new Float32Array(11).fill(Number.NaN) },
      'scores',
      'has no number for id 4',
    ],
    [
      'an id past the vocabulary',
      byteLevel(),
      { 'tokenizer.ggml.eos_token_id': 10 },
      'eos_token_id',
      'is 10, which is not an id of a vocabulary of 10 tokens',
    ],
    [
      'a negative id',
      byteLevel(),
      { 'tokenizer.ggml.padding_token_id': -1 },
      'padding_token_id',
      'is -1, which is not an id of a vocabulary of 10 tokens',
    ],
    [
      'an id of the padding',
      byteLevel(),
      {
        'tokenizer.ggml.tokens': ['<|im_start|>', '<|im_end|>', 'a', 'b', 'c', 'ab', 'abc', 'd', 'e', ''],
        'tokenizer.ggml.eom_token_id': 9,
      },
      'eom_token_id',
      'is 9, an id without a token',
    ],
    [
      'an id that is text',
      byteLevel(),
      { 'tokenizer.ggml.eot_token_id': '1' },
      'eot_token_id',
      'must be an integer, found a string',
    ],
    [
      'a first token that no id names',
      byteLevel(),
      { 'tokenizer.ggml.add_bos_token': true, 'tokenizer.ggml.bos_token_id': undefined },
      'add_bos_token',
      'is true, but tokenizer.ggml.bos_token_id is missing',
    ],
    [
      'a last token that no id names',
      byteLevel(),
      { 'tokenizer.ggml.add_eos_token': true, 'tokenizer.ggml.eos_token_id': undefined },
      'add_eos_token',
      'is true, but tokenizer.ggml.eos_token_id is missing',
    ],
    [
      'a flag that is a number',
      byteLevel(),
      { 'tokenizer.ggml.add_bos_token': 1 },
      'add_bos_token',
      'must be a boolean, found a number',
    ],
  ];

  it.each(cases)('is refused with its key: %s', (_name, metadata, changes, key, problem) => {
    const error = errorOf(() => readChanged(metadata, changes));
    expect(error).toMatchObject({ code: 'corrupt', key: `tokenizer.ggml.${key}`, file: 'model.gguf' });
    expect(error.message).toBe(`model.gguf, metadata key "tokenizer.ggml.${key}": ${problem}`);
  });

  it('in the chat template is refused with its key', () => {
    const error = errorOf(() => readChanged(byteLevel(), { 'tokenizer.chat_template.tool_use': 1 }));
    expect(error).toMatchObject({ code: 'corrupt', key: 'tokenizer.chat_template.tool_use' });
  });
});
