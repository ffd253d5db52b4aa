import { expect, test } from 'vitest';
import { parseTokenizer } from '../../test/parse-tokenizer.ts';
import { detokenize } from './detokenizer.ts';
import { TokenBytes } from './token-bytes.ts';

const special = (id: number, content: string) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
});
const tokenBytes = new TokenBytes(
  parseTokenizer({
    model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] },
    added_tokens: [special(2, '<|end|>'), special(3, '<|start|>')],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'ByteLevel' },
  }),
);

test.each([
  ['none of them', [], 'ab'],
  ['those that are shown', [2], 'a<|end|>b'],
  ['all of them', [2, 3], 'a<|end|><|start|>b'],
])('special tokens that are skipped keep the text of %s', (_which, shownIds, text) => {
  const shownSpecialIds = new Set(shownIds);
  expect(detokenize(tokenBytes, [0, 2, 3, 1], { skipSpecialTokens: true, shownSpecialIds })).toBe(text);
  expect(detokenize(tokenBytes, [0, 2, 3, 1], { skipSpecialTokens: false })).toBe('a<|end|><|start|>b');
});
