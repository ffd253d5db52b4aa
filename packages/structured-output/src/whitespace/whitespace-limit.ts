// The tokens of a vocabulary that would exceed the white space bound of JSON, by state. One per model; the mask of a state is
// computed when it is first reached (a millisecond at 150,000 tokens) and cached.

import type { TokenVocabulary } from '../token-vocabulary.ts';
import { GAP_STATE_COUNT, type GapState, isInString, nextGapState, TOO_WIDE } from './json-whitespace.ts';

const QUOTE = 0x22;

export class WhitespaceLimit {
  readonly #vocabulary: TokenVocabulary;
  readonly #wordCount: number;
  /** Text tokens with white space: no other token extends a gap. */
  readonly #spaced: readonly number[];
  /** Those of them that can end a string. */
  readonly #spacedWithQuote: readonly number[];
  /** By state: the mask of allowed tokens; null where all are, undefined before it is computed. */
  readonly #allowed: (Uint32Array | null | undefined)[] = new Array(GAP_STATE_COUNT);

  constructor(vocabulary: TokenVocabulary) {
    this.#vocabulary = vocabulary;
    this.#wordCount = Math.ceil(vocabulary.columnCount / 32);
    const { bytes, offsets, specialTokens, eosTokenIds, columnCount } = vocabulary;
    const noText = new Set([...specialTokens.map(({ id }) => id), ...eosTokenIds]);
    const spaced: number[] = [];
    for (let id = 0; id < Math.min(offsets.length - 1, columnCount); id++) {
      if (noText.has(id)) continue;
      for (let i = offsets[id]!; i < offsets[id + 1]!; i++) {
        if (!isSpace(bytes[i]!)) continue;
        spaced.push(id);
        break;
      }
    }
    this.#spaced = spaced;
    this.#spacedWithQuote = spaced.filter(id => bytes.subarray(offsets[id], offsets[id + 1]).includes(QUOTE));
  }

  /** The state behind a text token, or `TOO_WIDE`. */
  next(state: GapState, tokenId: number): GapState {
    const { bytes, offsets } = this.#vocabulary;
    let reached = state;
    for (let i = offsets[tokenId]!; i < offsets[tokenId + 1]!; i++) {
      reached = nextGapState(reached, bytes[i]!);
      if (reached === TOO_WIDE) return TOO_WIDE;
    }
    return reached;
  }

  /** Mutates: takes the tokens that would make a gap too wide out of `mask`. */
  narrow(mask: Uint32Array, state: GapState): void {
    let allowed = this.#allowed[state];
    if (allowed === undefined) allowed = this.#allowed[state] = this.#findAllowed(state);
    if (allowed === null) return;
    for (let word = 0; word < mask.length; word++) mask[word]! &= allowed[word]!;
  }

  #findAllowed(state: GapState): Uint32Array | null {
    let allowed: Uint32Array | null = null;
    for (const id of isInString(state) ? this.#spacedWithQuote : this.#spaced) {
      if (this.next(state, id) !== TOO_WIDE) continue;
      allowed ??= new Uint32Array(this.#wordCount).fill(0xffffffff);
      allowed[id >>> 5]! &= ~(1 << (id & 31));
    }
    return allowed;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x09 || byte === 0x0d;
}
