// A small byte-level BPE tokenizer with chat markers and a simple chat template.

/** BPE merges, in order; `Ġ` is the byte-level form of a space. */
const MERGES = [
  ['t', 'h'],
  ['th', 'e'],
  ['Ġ', 'the'],
  ['i', 'n'],
  ['e', 'r'],
  ['a', 'n'],
  ['an', 'd'],
  ['Ġ', 'and'],
  ['o', 'u'],
  ['e', 'n'],
  ['o', 'n'],
  ['Ġ', 'a'],
  ['Ġ', 'i'],
  ['Ġi', 's'],
  ['l', 'l'],
  ['in', 'g'],
] as const;

const SPECIAL_TOKENS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'] as const;

const BYTE_COUNT = 256;

/** Ids of the special tokens; they follow the bytes and the merges. */
export const TINY_SPECIAL_IDS = {
  endOfText: BYTE_COUNT + MERGES.length,
  messageStart: BYTE_COUNT + MERGES.length + 1,
  messageEnd: BYTE_COUNT + MERGES.length + 2,
} as const;

const CHAT_TEMPLATE =
  "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n" +
  '{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';

/** Contents of `tokenizer.json` and `tokenizer_config.json`. */
export function tinyTokenizerFiles(): { tokenizer: unknown; tokenizerConfig: unknown } {
  const vocabulary = byteCharacters();
  for (const [left, right] of MERGES) vocabulary.push(left + right);
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const addedTokens = SPECIAL_TOKENS.map((content, i) => ({
    id: TINY_SPECIAL_IDS.endOfText + i,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens,
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
      merges: MERGES.map(pair => [...pair]),
    },
  };
  const tokenizerConfig = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: null,
    eos_token: '<|im_end|>',
    pad_token: '<|endoftext|>',
    clean_up_tokenization_spaces: false,
    added_tokens_decoder: Object.fromEntries(addedTokens.map(({ id, ...token }) => [id, token])),
    chat_template: CHAT_TEMPLATE,
  };
  return { tokenizer, tokenizerConfig };
}

/**
 * GPT-2's printable character for each byte: printable Latin-1 maps to itself, every other byte to the next character from
 * U+0100.
 */
function byteCharacters(): string[] {
  const characters: string[] = [];
  let next = 0x100;
  for (let byte = 0; byte < BYTE_COUNT; byte++) {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    characters.push(String.fromCodePoint(isPrintable ? byte : next++));
  }
  return characters;
}
