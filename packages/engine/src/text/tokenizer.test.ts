import { expect, test } from 'vitest';
import { parseTokenizer } from '../../test/parse-tokenizer.ts';
import { detokenize } from './detokenizer.ts';
import { Tokenizer } from './tokenizer.ts';

const BYTES = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
);

/** A tokenizer of bytes and a mark for the space, with one added token that has the id 300. */
function createTokenizer(added: object): Tokenizer {
  const vocab = Object.fromEntries(['<unk>', ...BYTES, '▁'].map((text, id) => [text, id]));
  const tokenizer = parseTokenizer({
    added_tokens: [{ id: 300, special: false, normalized: false, ...added }],
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: 'Sequence',
      decoders: [{ type: 'Metaspace', replacement: '▁' }, { type: 'ByteFallback' }],
    },
    model: { type: 'BPE', vocab, merges: [], unk_token: '<unk>', byte_fallback: true },
  });
  return new Tokenizer({ tokenizer, config: {}, modelConfig: {}, generationConfig: {} });
}

test('an added token that stands inside a word is plain text, also when it is a single character', () => {
  const tokenizer = createTokenizer({ content: 'é', single_word: true });
  const bytes = [...Buffer.from('aé')].map(byte => byte + 1);
  expect(tokenizer.encode('é', { addSpecialTokens: false })).toEqual([300]);
  expect(tokenizer.encode('aé', { addSpecialTokens: false })).toEqual(bytes);
});

test('an added token is found by its text and shown with it', () => {
  const tokenizer = createTokenizer({ content: '<call>' });
  expect(tokenizer.tokenId('<call>')).toBe(300);
  expect(tokenizer.vocabularyText(300)).toBe('<call>');
  expect(tokenizer.vocabularyText(257)).toBe('▁');
});

test('a text that begins with an added token keeps the spaces of the token', () => {
  const { tokenBytes } = createTokenizer({ content: '<call me>' });
  const space = 257;
  expect(detokenize(tokenBytes, [300, space, 66], { skipSpecialTokens: false })).toBe('<call me> A');
  expect(detokenize(tokenBytes, [space, 66], { skipSpecialTokens: false })).toBe('A');
});

test('added tokens that are normalised are found after the others, also without a normaliser', () => {
  const token = (id: number, content: string, normalized: boolean) => ({ id, content, normalized });
  const tokenizer = parseTokenizer({
    added_tokens: [token(1, '<|', false), token(2, '<|end|>', true), token(3, 'd|', true)],
    decoder: { type: 'ByteLevel' },
    model: { type: 'BPE', vocab: { '<unk>': 0, e: 4, n: 5 }, merges: [], unk_token: '<unk>', fuse_unk: true },
  });
  const made = new Tokenizer({ tokenizer, config: {}, modelConfig: {}, generationConfig: {} });
  expect(made.encode('<|end|>', { addSpecialTokens: false })).toEqual([1, 4, 5, 3, 0]);
});
