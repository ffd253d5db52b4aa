// Types of the converted files: the content of tokenizer.json, tokenizer_config.json and
// generation_config.json, as far as a GGUF file has it.

/** A normalizer, pre-tokenizer, post-processor or decoder; fields depend on `type`. */
export interface TokenizerStage {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An entry of `added_tokens`: a token that is found in the text before it is normalised and split. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly single_word: boolean;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  readonly normalized: boolean;
  readonly special: boolean;
}

export interface BpeModel {
  readonly type: 'BPE';
  readonly dropout: null;
  readonly unk_token: string | null;
  readonly continuing_subword_prefix: null;
  readonly end_of_word_suffix: null;
  readonly fuse_unk: boolean;
  readonly byte_fallback: boolean;
  readonly ignore_merges: boolean;
  /** Token to id. Has no prototype, because `__proto__` is a token of some vocabularies. */
  readonly vocab: Readonly<Record<string, number>>;
  /** `left right`, best first. */
  readonly merges: readonly string[];
}

/** Content of tokenizer.json. */
export interface TokenizerJson {
  readonly version: '1.0';
  readonly truncation: null;
  readonly padding: null;
  readonly added_tokens: readonly AddedToken[];
  readonly normalizer: TokenizerStage | null;
  readonly pre_tokenizer: TokenizerStage | null;
  readonly post_processor: TokenizerStage | null;
  readonly decoder: TokenizerStage;
  readonly model: BpeModel;
}

export interface NamedChatTemplate {
  readonly name: string;
  readonly template: string;
}

/** Content of tokenizer_config.json. */
export interface TokenizerConfig {
  readonly tokenizer_class: 'PreTrainedTokenizerFast';
  readonly clean_up_tokenization_spaces: false;
  readonly add_bos_token: boolean;
  readonly add_eos_token: boolean;
  readonly bos_token?: string;
  readonly eos_token?: string;
  readonly unk_token?: string;
  readonly pad_token?: string;
  /** A list where the file has named templates beside the default one, which is then named `default`. */
  readonly chat_template?: string | readonly NamedChatTemplate[];
}

/** The token ids of generation_config.json. */
export interface GenerationTokenIds {
  readonly bos_token_id?: number;
  readonly pad_token_id?: number;
  /** Every token that ends an answer, the one of `eos_token` first. Empty where the file names none. */
  readonly eos_token_id: readonly number[];
}
