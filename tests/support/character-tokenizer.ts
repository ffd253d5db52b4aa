// A tokenizer whose tokens are one character each, so that a chat message can say any prompt of token ids; its chat template is the
// message itself.

/** Characters that no rule of a tokenizer or template treats in a special way. */
const FIRST_CHARACTER = 0x4e00;

/** The message of these tokens. */
export function textOf(tokenIds: readonly number[]): string {
  return String.fromCharCode(...tokenIds.map(id => FIRST_CHARACTER + id));
}

/** The token of a character. */
export function tokenOf(character: string): number {
  return character.charCodeAt(0) - FIRST_CHARACTER;
}

/** Contents of `tokenizer.json` and `tokenizer_config.json`, by their names. */
export function characterTokenizerFiles(vocabSize: number): Readonly<Record<string, unknown>> {
  const characters = Array.from({ length: vocabSize }, (_, id) => textOf([id]));
  const model = {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: Object.fromEntries(characters.map((character, id) => [character, id])),
    merges: [],
  };
  return {
    tokenizer: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [],
      normalizer: null,
      pre_tokenizer: null,
      post_processor: null,
      decoder: {
        type: 'Sequence',
        decoders: [
          { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
          { type: 'ByteFallback' },
          { type: 'Fuse' },
        ],
      },
      model,
    },
    tokenizer_config: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      chat_template: "{{ messages[0]['content'] }}",
    },
  };
}
