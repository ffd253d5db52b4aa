// The edits of logits processors, token by token, for a sampler whose rows are on a device. Filled by
// `LogitsProcessor.describe`, read by `device/`. One instance per row of a step; reused.

import { LARGEST_FLOAT32 } from './kernels/token-weight.ts';

/** Penalties outside this range come near the ends of float32, where a division in parts is not exact. */
const LARGEST_PENALTY = 2 ** 10;

/** Stands for minus infinity, because shaders may assume that no number is infinite. */
export const BANNED_LOGIT = -LARGEST_FLOAT32;

/**
 * Applied to each token, in this order: `logit + bias`, then the repetition penalty (a division of positive
 * logits, a product of others), then `- frequency`, then `- presence`. An unused step is a 0 or a penalty of
 * 1, which change nothing.
 */
export class TokenEdits {
  readonly tokenIds: number[] = [];
  readonly biases: number[] = [];
  readonly penalties: number[] = [];
  readonly frequencies: number[] = [];
  readonly presences: number[] = [];
  /** The only tokens that may come next. Null: any. */
  allowedTokenIds: Int32Array | null = null;
  /** False when some edit is none of the above; then the row itself is needed. */
  isExact = true;
  readonly #indexOf = new Map<number, number>();

  get isEmpty(): boolean {
    return this.tokenIds.length === 0 && this.allowedTokenIds === null && this.isExact;
  }

  clear(): void {
    for (const list of [this.tokenIds, this.biases, this.penalties, this.frequencies, this.presences])
      list.length = 0;
    this.allowedTokenIds = null;
    this.isExact = true;
    this.#indexOf.clear();
  }

  ban(tokenId: number): void {
    this.biases[this.#at(tokenId)] = BANNED_LOGIT;
  }

  /** A banned token stays banned. */
  addBias(tokenId: number, bias: number): void {
    const index = this.#at(tokenId);
    if (this.biases[index] === BANNED_LOGIT) return;
    // A second bias of a token would be rounded on its own.
    if (this.biases[index] !== 0) this.isExact = false;
    this.biases[index] = bias;
  }

  penalize(tokenId: number, penalty: number): void {
    if (penalty > LARGEST_PENALTY || penalty < 1 / LARGEST_PENALTY) this.isExact = false;
    this.penalties[this.#at(tokenId)] = penalty;
  }

  lower(tokenId: number, frequency: number, presence: number): void {
    const index = this.#at(tokenId);
    this.frequencies[index] = frequency;
    this.presences[index] = presence;
  }

  #at(tokenId: number): number {
    const known = this.#indexOf.get(tokenId);
    if (known !== undefined) return known;
    const index = this.tokenIds.length;
    this.#indexOf.set(tokenId, index);
    this.tokenIds.push(tokenId);
    this.biases.push(0);
    this.penalties.push(1);
    this.frequencies.push(0);
    this.presences.push(0);
    return index;
  }
}
