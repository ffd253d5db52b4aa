// Log probabilities of a row from its best tokens and its sum, which the device sent. Caller: `device-sampler.ts`.

import type { TokenLogprobs } from '../../../request/token-logprobs.ts';
import type { BestTokens } from './decide-token.ts';

/** What the device sent of the row before any edit. */
export interface UneditedRow {
  readonly best: BestTokens;
  /** Sum over all tokens of their probabilities relative to the best one. */
  readonly sum: number;
  readonly vocabSize: number;
}

/** Logit and rank of a token; null where it is not among the best. */
export function logitAndRankOf(
  { best }: UneditedRow,
  tokenId: number,
): { logit: number; above: number } | null {
  const index = best.tokenIds.indexOf(tokenId);
  if (index < 0) return best.isAll ? { logit: -Infinity, above: best.logits.length } : null;
  const logit = best.logits[index]!;
  return { logit, above: best.logits.indexOf(logit) };
}

/**
 * As `readRowLogprobs`, but for the rounding of the sum. Null where other tokens may be among the `topCount` best or the
 * row is not made of numbers.
 */
export function toTokenLogprobs(
  { best, sum, vocabSize }: UneditedRow,
  { tokenId, logit, above }: { readonly tokenId: number; readonly logit: number; readonly above: number },
  topCount: number,
): TokenLogprobs | null {
  const normalizer = best.logits.length === 0 ? Number.NaN : best.logits[0]! + Math.log(sum);
  if (!Number.isFinite(normalizer)) return null;
  const count = Math.min(topCount, vocabSize);
  if (count > best.knownCount && !best.isAll) return null;
  const tokenIds = [...best.tokenIds.subarray(0, count)];
  const logits = [...best.logits.subarray(0, count)];
  // All others are banned, and equal: they follow in id order.
  if (tokenIds.length < count) {
    const present = new Set(tokenIds);
    for (let id = 0; tokenIds.length < count; id++) {
      if (present.has(id)) continue;
      tokenIds.push(id);
      logits.push(-Infinity);
    }
  }
  return {
    tokenId,
    logprob: Math.fround(logit - normalizer),
    rank: 1 + above,
    topTokenIds: Int32Array.from(tokenIds),
    topLogprobs: Float32Array.from(logits, value => value - normalizer),
  };
}
