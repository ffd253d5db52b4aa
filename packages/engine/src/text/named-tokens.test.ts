import { expect, test } from 'vitest';
import { parseTokenizer } from '../../test/parse-tokenizer.ts';
import { withNamedTokens } from './named-tokens.ts';

const tokenizer = parseTokenizer({
  added_tokens: [
    { id: 4, content: '<call>', rstrip: true },
    { id: 5, content: '<listed>' },
  ],
  model: { type: 'BPE', vocab: { a: 0, '<end>': 1, '<pad>': 2, '<image>': 3 }, merges: [] },
});

const flagsOf = (config: object) =>
  withNamedTokens(tokenizer, { ...config }).map(token => {
    const flags = (['special', 'normalized', 'rstrip'] as const).filter(flag => token[flag]);
    return [token.id, token.content, ...flags];
  });
const CALL = [4, '<call>', 'normalized', 'rstrip'];
const LISTED = [5, '<listed>', 'normalized'];

test('a named token that only the vocabulary has is found in texts, and special', () => {
  const pad = { __type: 'AddedToken', content: '<pad>', rstrip: true };
  expect(
    flagsOf({ eos_token: '<end>', sep_token: pad, image_token: '<image>', add_bos_token: true }),
  ).toEqual([
    CALL,
    LISTED,
    [1, '<end>', 'special'],
    [2, '<pad>', 'special', 'rstrip'],
    [3, '<image>', 'special'],
  ]);
  expect(flagsOf({ additional_special_tokens: ['<end>'], extra_special_tokens: { any: '<pad>' } })).toEqual([
    CALL,
    LISTED,
    [1, '<end>', 'special'],
    [2, '<pad>', 'special'],
  ]);
});

test('a named token that was added is special and keeps its other flags; one that is only in a list stays as it is', () => {
  expect(flagsOf({ eos_token: '<call>', additional_special_tokens: ['<listed>'] })).toEqual([
    [4, '<call>', 'special', 'normalized', 'rstrip'],
    LISTED,
  ]);
});

test('a name without token and a token without id change nothing', () => {
  for (const eos_token of [null, '', '<none>', {}, 3, ['<end>']])
    expect(flagsOf({ eos_token, additional_special_tokens: null })).toEqual([CALL, LISTED]);
});

test('padding and the unknown token may be ordinary text', () => {
  expect(flagsOf({ pad_token: 'a', unk_token: { content: 'a' } })).toEqual([CALL, LISTED]);
});
