// The tokenizer: text to token ids, for tokenizer.json files. The only importer of @huggingface/tokenizers,
// which does normalizing, pre-tokenizing and merging; added tokens, special tokens and all decoding are our own
// (added-tokens.ts, token-bytes.ts, detokenizer.ts). The goldens in test/golden compare it with the original.

import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import { EngineError } from '../errors.ts';
import { AddedTokenSplitter } from './added-tokens.ts';
import { readEndTokenIds } from './end-token-ids.ts';
import { TokenBytes } from './token-bytes.ts';
import type { JsonObject, TokenizerFiles, TokenizerJson } from './tokenizer-json.ts';
import { adaptTokenizerJson, addsPrefixSpace } from './tokenizer-stages.ts';

/** Encodes text and knows the special ids of one model. Holds caches, so use it from one thread. */
export class Tokenizer {
  readonly tokenBytes: TokenBytes;
  /** One more than the largest id. The model's own vocabulary may be larger (padding). */
  readonly vocabSize: number;
  /** The end-of-sequence id named by tokenizer_config.json; null when it names none. */
  readonly mainEosTokenId: number | null;
  /** The main id first, then the others of the configuration. */
  readonly eosTokenIds: readonly number[];
  readonly #pipeline: LibraryTokenizer;
  /** Tokens of the model alone: what its words become. */
  readonly #idOf: ReadonlyMap<string, number>;
  readonly #addedIdOf: ReadonlyMap<string, number>;
  /** Token ids to texts; built on first use, because few callers need it. */
  #textOf: ReadonlyMap<number, string> | undefined;
  readonly #unknownId: number | undefined;
  readonly #unnormalized: AddedTokenSplitter;
  readonly #normalized: AddedTokenSplitter;
  /** The special tokens before a text, the beginning-of-sequence token for example. */
  readonly prefixIds: readonly number[];
  readonly #suffixIds: readonly number[];
  readonly #prefixesSpace: boolean;

  constructor(files: Pick<TokenizerFiles, 'tokenizer' | 'config' | 'modelConfig' | 'generationConfig'>) {
    const json = adaptTokenizerJson(files.tokenizer);
    this.#pipeline = createLibraryTokenizer(json);
    const { model, normalizer } = this.#pipeline;
    if (model === null) throw new EngineError('model_invalid', 'tokenizer.json has no model.');
    this.#idOf = model.tokens_to_ids;
    this.#addedIdOf = new Map(json.added_tokens.map(({ content, id }) => [content, id]));
    this.#unknownId = model.unk_token_id;
    this.tokenBytes = new TokenBytes(files.tokenizer);
    this.vocabSize = this.tokenBytes.size;
    const isNormalized = (token: { normalized: boolean }) => token.normalized && normalizer !== null;
    this.#unnormalized = new AddedTokenSplitter(
      json.added_tokens.filter(token => !isNormalized(token)),
      token => token.content,
    );
    this.#normalized = new AddedTokenSplitter(json.added_tokens.filter(isNormalized), token =>
      normalizer === null ? token.content : normalizer(token.content),
    );
    this.#prefixesSpace = addsPrefixSpace(files.tokenizer.pre_tokenizer);
    [this.prefixIds, this.#suffixIds] = this.#readTemplate();
    const eosToken = tokenText(files.config.eos_token);
    this.mainEosTokenId = eosToken === null ? null : (this.tokenId(eosToken) ?? null);
    this.eosTokenIds = readEndTokenIds(this.mainEosTokenId, files.generationConfig, files.modelConfig);
  }

  /** Id of a token by its exact vocabulary text. */
  tokenId(content: string): number | undefined {
    return this.#addedIdOf.get(content) ?? this.#idOf.get(content);
  }

  /** Text of a token in the vocabulary file; empty for ids without a token. */
  vocabularyText(id: number): string {
    this.#textOf ??= new Map([...this.#idOf, ...this.#addedIdOf].map(([text, tokenId]) => [tokenId, text]));
    return this.#textOf.get(id) ?? '';
  }

  /** Lone surrogates count as U+FFFD. */
  encode(text: string, options: { readonly addSpecialTokens: boolean }): number[] {
    const ids: number[] = options.addSpecialTokens ? [...this.prefixIds] : [];
    const wellFormed = text.toWellFormed();
    const { normalizer } = this.#pipeline;
    for (const section of this.#unnormalized.split(wellFormed)) {
      if (section.kind === 'added') {
        ids.push(section.tokenId);
        continue;
      }
      const normalized = normalizer === null ? section.text : normalizer(section.text);
      for (const part of this.#normalized.split(normalized)) {
        if (part.kind === 'added') ids.push(part.tokenId);
        else this.#encodePlain(part.text, section.start + part.start === 0, ids);
      }
    }
    if (options.addSpecialTokens) ids.push(...this.#suffixIds);
    return ids;
  }

  /** Mutates: `ids`, by appending. */
  #encodePlain(text: string, isFirst: boolean, ids: number[]): void {
    const { pre_tokenizer: preTokenizer, model } = this.#pipeline;
    // The library's Metaspace stage puts its prefix before the section with index 0 only.
    const prefixed = this.#prefixesSpace && !text.startsWith(' ') ? ` ${text}` : text;
    const words =
      preTokenizer === null ? [prefixed] : preTokenizer(prefixed, { section_index: isFirst ? 0 : 1 });
    for (const token of model!(words)) {
      const id = this.#idOf.get(token) ?? this.#unknownId;
      if (id !== undefined) ids.push(id);
    }
  }

  /** The special tokens that the post-processor puts around a text, found by processing a marker. */
  #readTemplate(): [number[], number[]] {
    const marker = '\u0000text\u0000';
    const { post_processor: postProcessor } = this.#pipeline;
    if (postProcessor === null) return [[], []];
    const tokens: string[] = postProcessor.post_process([marker], null, true).tokens;
    const at = tokens.indexOf(marker);
    const toIds = (list: readonly string[]) =>
      list.map(token => {
        const id = this.tokenId(token);
        if (id !== undefined) return id;
        throw new EngineError(
          'model_invalid',
          `tokenizer.json's post_processor names the unknown token "${token}".`,
        );
      });
    return [toIds(tokens.slice(0, at)), toIds(tokens.slice(at + 1))];
  }
}

/** Text of a special token entry, which is a string or an object with `content`. */
export function tokenText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'content' in value) return String(value.content);
  return null;
}

function createLibraryTokenizer(json: TokenizerJson): LibraryTokenizer {
  try {
    // The library's own added-token and decoding steps are not used, so it needs no configuration. Added tokens are kept
    // from it: it would give their ids to plain text, where one is not found because it stands inside a word.
    return new LibraryTokenizer({ ...json, added_tokens: [] }, {} satisfies JsonObject);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('model_invalid', `tokenizer.json of the model folder is unusable: ${reason}`, {
      cause,
    });
  }
}
