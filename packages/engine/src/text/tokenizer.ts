// The tokenizer: text to token ids, for tokenizer.json files. Decoding is apart from it (token-bytes.ts, detokenizer.ts). The goldens
// in test/golden compare both with the original.

import { AddedTokenSplitter } from './added-tokens.ts';
import { BpeModel } from './bpe/bpe-model.ts';
import type { Vocabulary } from './bpe/vocabulary.ts';
import { readEndTokenIds } from './end-token-ids.ts';
import { tokenText } from './named-tokens.ts';
import { hasCheapStages } from './stages/cheap-stages.ts';
import { createNormalizer, type Normalizer } from './stages/normalizer.ts';
import { createPreTokenizer, type PreTokenizer } from './stages/pre-tokenizer.ts';
import { readTextTemplate } from './stages/text-template.ts';
import { TokenBytes } from './token-bytes.ts';
import type { TokenizerFiles } from './tokenizer-json.ts';

/** Encodes text and knows the special ids of one model. Holds caches, so use it from one thread. */
export class Tokenizer {
  readonly tokenBytes: TokenBytes;
  /** One more than the largest id. The model's own vocabulary may be larger (padding). */
  readonly vocabSize: number;
  /** The end-of-sequence id named by tokenizer_config.json; null when it names none. */
  readonly mainEosTokenId: number | null;
  /** The main id first, then the others of the configuration. */
  readonly eosTokenIds: readonly number[];
  /** Whether a short text is encoded in a short time, whatever it is; the expressions of a model may need endless time. */
  readonly isCheap: boolean;
  /** The special tokens before a text, the beginning-of-sequence token for example. */
  readonly prefixIds: readonly number[];
  readonly #suffixIds: readonly number[];
  readonly #normalizer: Normalizer | null;
  readonly #preTokenizer: PreTokenizer;
  readonly #model: BpeModel;
  /** Tokens of the model alone: what its words become. */
  readonly #vocabulary: Vocabulary;
  readonly #addedIdOf: ReadonlyMap<string, number>;
  readonly #addedTextOf: ReadonlyMap<number, string>;
  readonly #unnormalized: AddedTokenSplitter;
  readonly #normalized: AddedTokenSplitter;

  /** Throws: `model_invalid` for a stage that is not computed as the original computes it. */
  constructor(files: Pick<TokenizerFiles, 'tokenizer' | 'config' | 'modelConfig' | 'generationConfig'>) {
    const { tokenizer } = files;
    const { model, added_tokens: added } = tokenizer;
    this.#vocabulary = model.vocabulary;
    this.#model = new BpeModel(model.vocabulary, model.merges, model.settings);
    const normalizer = createNormalizer(tokenizer.normalizer);
    this.#normalizer = normalizer;
    this.#preTokenizer = createPreTokenizer(tokenizer.pre_tokenizer);
    this.isCheap = hasCheapStages(tokenizer);
    const template = readTextTemplate(tokenizer.post_processor);
    this.prefixIds = template.prefixIds;
    this.#suffixIds = template.suffixIds;
    this.#addedIdOf = new Map(added.map(({ content, id }) => [content, id]));
    this.#addedTextOf = new Map(added.map(({ content, id }) => [id, content]));
    this.tokenBytes = new TokenBytes(tokenizer);
    this.vocabSize = this.tokenBytes.size;
    this.#unnormalized = new AddedTokenSplitter(
      added.filter(token => !token.normalized),
      token => token.content,
    );
    // Found after the others, also where nothing is normalised.
    this.#normalized = new AddedTokenSplitter(
      added.filter(token => token.normalized),
      token => (normalizer === null ? token.content : normalizer(token.content)),
    );
    const eosToken = tokenText(files.config.eos_token);
    this.mainEosTokenId = eosToken === null ? null : (this.tokenId(eosToken) ?? null);
    this.eosTokenIds = readEndTokenIds(this.mainEosTokenId, files.generationConfig, files.modelConfig);
  }

  /** Id of a token by its exact vocabulary text. */
  tokenId(content: string): number | undefined {
    return this.#addedIdOf.get(content) ?? this.#vocabulary.idOf(content);
  }

  /** Text of a token in the vocabulary file; empty for ids without a token. */
  vocabularyText(id: number): string {
    return this.#addedTextOf.get(id) ?? this.#vocabulary.textOf(id);
  }

  /** Lone surrogates count as U+FFFD. */
  encode(text: string, options: { readonly addSpecialTokens: boolean }): number[] {
    const ids: number[] = options.addSpecialTokens ? [...this.prefixIds] : [];
    for (const section of this.#unnormalized.split(text.toWellFormed())) {
      if (section.kind === 'added') {
        ids.push(section.tokenId);
        continue;
      }
      const normalized = this.#normalizer === null ? section.text : this.#normalizer(section.text);
      for (const part of this.#normalized.split(normalized)) {
        if (part.kind === 'added') ids.push(part.tokenId);
        else this.#encodePlain(part.text, section.start + part.start === 0, ids);
      }
    }
    if (options.addSpecialTokens) ids.push(...this.#suffixIds);
    return ids;
  }

  /** Mutates: `ids`, by appending. */
  #encodePlain(text: string, isTextStart: boolean, ids: number[]): void {
    for (const word of this.#preTokenizer(text, isTextStart)) this.#model.encodeWord(word, ids);
  }
}
