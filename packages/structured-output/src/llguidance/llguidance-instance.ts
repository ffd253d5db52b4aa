// One WebAssembly instance of llguidance with one vocabulary loaded: matchers are handles (pointers) in its memory.
// Called by llguidance-engine.ts, which replaces the whole instance when a call dies in it.

import { type Grammar, GrammarRefused, MatcherFailed } from '../constraint.ts';
import type { TokenVocabulary } from '../token-vocabulary.ts';
import { instantiate, type LlguidanceExports } from './instantiate.ts';

/** Limits of llguidance on one grammar; the values are its defaults. */
export interface LlguidanceLimits {
  /** Most Earley items of one position. */
  readonly rowItemCount: number;
  /** Work to build the lexer, and to extend it within one mask. */
  readonly initialLexerFuel: number;
  readonly stepLexerFuel: number;
  /** Earley items of one mask. */
  readonly stepItemCount: number;
  readonly lexerStateCount: number;
  readonly grammarSize: number;
}

export const DEFAULT_LLGUIDANCE_LIMITS: LlguidanceLimits = {
  rowItemCount: 2_000,
  initialLexerFuel: 1_000_000,
  stepLexerFuel: 200_000,
  stepItemCount: 50_000,
  lexerStateCount: 250_000,
  grammarSize: 500_000,
};

const TOKENIZER_INIT_BYTES = 40;
const MATCHER_INIT_BYTES = 56;
const ERROR_TEXT_BYTES = 1024;
/** Tokens whose name no text can contain begin with this byte; it never occurs in UTF-8. */
const SPECIAL_PREFIX = 0xff;
/** Maximum number of tokens handed over in one call. */
const TOKEN_BATCH = 1024;

export class LlguidanceInstance {
  readonly maskWordCount: number;
  readonly #wasm: LlguidanceExports;
  readonly #matcherInit: number;
  readonly #mask: number;
  readonly #tokens: number;

  /** Building the token tables takes from 10 ms (small vocabularies) to seconds (200,000 tokens and more). */
  constructor(vocabulary: TokenVocabulary, limits: LlguidanceLimits) {
    const wasm = instantiate();
    this.#wasm = wasm;
    this.maskWordCount = Math.ceil(vocabulary.columnCount / 32);
    this.#matcherInit = wasm.__wbindgen_malloc(MATCHER_INIT_BYTES, 8);
    wasm.llg_constraint_init_set_defaults(this.#matcherInit, createTokenizer(wasm, vocabulary));
    writeLimits(new DataView(wasm.memory.buffer, this.#matcherInit, MATCHER_INIT_BYTES), limits);
    this.#mask = wasm.__wbindgen_malloc(this.maskWordCount * 4, 4);
    this.#tokens = wasm.__wbindgen_malloc(TOKEN_BATCH * 4, 4);
  }

  /** Unit: bytes. It never shrinks. */
  get memoryBytes(): number {
    return this.#wasm.memory.buffer.byteLength;
  }

  /** A new matcher. Throws: `GrammarRefused` with the compiler's message. */
  createMatcher({ kind, text }: Grammar): number {
    if (text.includes('\0')) throw new GrammarRefused('The grammar contains the character U+0000.');
    const kindText = this.#writeText(kind);
    const grammarText = this.#writeText(text);
    const matcher = this.#wasm.llg_new_matcher(this.#matcherInit, kindText.at, grammarText.at);
    this.#wasm.__wbindgen_free(kindText.at, kindText.size, 1);
    this.#wasm.__wbindgen_free(grammarText.at, grammarText.size, 1);
    const problem = this.#errorOf(matcher);
    if (problem === null) return matcher;
    this.#wasm.llg_free_matcher(matcher);
    throw new GrammarRefused(problem);
  }

  cloneMatcher(matcher: number): number {
    return this.#wasm.llg_clone_matcher(matcher);
  }

  freeMatcher(matcher: number): void {
    this.#wasm.llg_free_matcher(matcher);
  }

  /** Shape: `mask` is `[maskWordCount]`; bit `i % 32` of word `i / 32` says whether token `i` may come next. */
  fillMask(matcher: number, mask: Uint32Array): void {
    const byteLength = this.maskWordCount * 4;
    const failed = this.#wasm.llg_matcher_compute_mask_into(matcher, this.#mask, byteLength);
    if (failed !== 0) this.#fail(matcher);
    mask.set(new Uint32Array(this.#wasm.memory.buffer, this.#mask, this.maskWordCount));
  }

  /** Mutates: the matcher. A token that does not fit breaks it for good, so ask `countFitting` first. */
  consume(matcher: number, tokenIds: ArrayLike<number>): void {
    for (let start = 0; start < tokenIds.length; start += TOKEN_BATCH) {
      const count = this.#writeTokens(tokenIds, start);
      if (this.#wasm.llg_matcher_consume_tokens(matcher, this.#tokens, count) !== 0) this.#fail(matcher);
    }
  }

  /** How many of the first tokens of the list fit, one after the other; at most 1024 are tried. */
  countFitting(matcher: number, tokenIds: ArrayLike<number>): number {
    const count = this.#writeTokens(tokenIds, 0);
    const fitting = this.#wasm.llg_matcher_validate_tokens(matcher, this.#tokens, count);
    return fitting < 0 ? this.#fail(matcher) : fitting;
  }

  rollback(matcher: number, count: number): void {
    if (this.#wasm.llg_matcher_rollback(matcher, count) !== 0) this.#fail(matcher);
  }

  /** Whether the text so far is complete. */
  isAccepting(matcher: number): boolean {
    return this.#wasm.llg_matcher_is_accepting(matcher) !== 0;
  }

  /** Whether nothing can follow the text so far. */
  isStopped(matcher: number): boolean {
    return this.#wasm.llg_matcher_is_stopped(matcher) !== 0;
  }

  #fail(matcher: number): never {
    throw new MatcherFailed(this.#errorOf(matcher) ?? 'The matcher failed without a message.');
  }

  #errorOf(matcher: number): string | null {
    const at = this.#wasm.llg_matcher_get_error(matcher);
    if (at === 0) return null;
    const bytes = new Uint8Array(this.#wasm.memory.buffer, at);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  #writeText(text: string): { readonly at: number; readonly size: number } {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const at = this.#wasm.__wbindgen_malloc(bytes.length, 1);
    new Uint8Array(this.#wasm.memory.buffer, at).set(bytes);
    return { at, size: bytes.length };
  }

  #writeTokens(tokenIds: ArrayLike<number>, start: number): number {
    const count = Math.min(TOKEN_BATCH, tokenIds.length - start);
    const target = new Uint32Array(this.#wasm.memory.buffer, this.#tokens, count);
    for (let i = 0; i < count; i++) target[i] = tokenIds[start + i]!;
    return count;
  }
}

/**
 * The token table as llguidance reads it: one byte string for each column of logits, empty for padding.
 *
 *     init (40 bytes): 0 column count, 4 end id, 8 lengths, 12 bytes, 16 no tokenizer.json, 20 no string flag,
 *                      24 no tokenize function, 28 approximate greedy = 1, 32 no user data, 36 default slices
 */
function createTokenizer(wasm: LlguidanceExports, vocabulary: TokenVocabulary): number {
  const { lengths, bytes } = tokenTable(vocabulary);
  const lengthsAt = wasm.__wbindgen_malloc(lengths.byteLength, 4);
  const bytesAt = wasm.__wbindgen_malloc(bytes.length, 1);
  const initAt = wasm.__wbindgen_malloc(TOKENIZER_INIT_BYTES, 8);
  const errorAt = wasm.__wbindgen_malloc(ERROR_TEXT_BYTES, 1);
  new Uint32Array(wasm.memory.buffer, lengthsAt).set(lengths);
  new Uint8Array(wasm.memory.buffer, bytesAt).set(bytes);
  new Uint8Array(wasm.memory.buffer, initAt, TOKENIZER_INIT_BYTES).fill(0);
  const init = new DataView(wasm.memory.buffer, initAt, TOKENIZER_INIT_BYTES);
  init.setUint32(0, vocabulary.columnCount, true);
  init.setUint32(4, vocabulary.eosTokenIds[0]!, true);
  init.setUint32(8, lengthsAt, true);
  init.setUint32(12, bytesAt, true);
  init.setUint8(28, 1);
  const tokenizer = wasm.llg_new_tokenizer(initAt, errorAt, ERROR_TEXT_BYTES);
  if (tokenizer === 0) {
    const text = new Uint8Array(wasm.memory.buffer, errorAt, ERROR_TEXT_BYTES);
    throw new Error(`Token table refused: ${new TextDecoder().decode(text.subarray(0, text.indexOf(0)))}`);
  }
  wasm.__wbindgen_free(lengthsAt, lengths.byteLength, 4);
  wasm.__wbindgen_free(bytesAt, bytes.length, 1);
  wasm.__wbindgen_free(initAt, TOKENIZER_INIT_BYTES, 8);
  wasm.__wbindgen_free(errorAt, ERROR_TEXT_BYTES, 1);
  return tokenizer;
}

function tokenTable(vocabulary: TokenVocabulary): { lengths: Uint32Array; bytes: Uint8Array } {
  const names = new Map<number, Uint8Array>();
  for (const id of vocabulary.eosTokenIds) names.set(id, new TextEncoder().encode(`<|end-${id}|>`));
  for (const { id, name } of vocabulary.specialTokens) names.set(id, new TextEncoder().encode(name));
  const { offsets } = vocabulary;
  const tokenCount = Math.min(offsets.length - 1, vocabulary.columnCount);
  const parts: Uint8Array[] = [];
  const lengths = new Uint32Array(vocabulary.columnCount);
  for (let id = 0; id < vocabulary.columnCount; id++) {
    const name = names.get(id);
    if (name !== undefined) parts.push(Uint8Array.of(SPECIAL_PREFIX, ...name));
    else if (id < tokenCount) parts.push(vocabulary.bytes.subarray(offsets[id], offsets[id + 1]));
    else continue;
    lengths[id] = parts.at(-1)!.length;
  }
  return { lengths, bytes: new Uint8Array(Buffer.concat(parts)) };
}

/**
 *     init (56 bytes): 0 tokenizer, 4 buffer log level, 8 stderr log level, 12 and 13 flags, limits from 16:
 *                      16 row items, 24 initial fuel (64 bits), 32 step fuel (64 bits), 40 step items,
 *                      44 lexer states, 48 grammar size, 52 precompute, 53 verbose errors
 *
 * Logs and verbose errors would carry generated text, so they are off.
 */
function writeLimits(init: DataView, limits: LlguidanceLimits): void {
  init.setUint32(4, 0, true);
  init.setUint32(8, 0, true);
  init.setUint32(16, limits.rowItemCount, true);
  init.setBigUint64(24, BigInt(limits.initialLexerFuel), true);
  init.setBigUint64(32, BigInt(limits.stepLexerFuel), true);
  init.setUint32(40, limits.stepItemCount, true);
  init.setUint32(44, limits.lexerStateCount, true);
  init.setUint32(48, limits.grammarSize, true);
  init.setUint8(53, 0);
}
