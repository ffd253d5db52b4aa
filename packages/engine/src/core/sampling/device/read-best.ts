// What the device says are the best tokens of a row, brought in the order that the sampler promises.

import { BANNED_LOGIT } from '../token-edits.ts';
import type { BestTokens } from './decide-token.ts';

/**
 * Shape: `values` is `[2, count]`, logits and ids, logits descending; places behind the vocabulary and banned tokens come
 * last and are left out. A device may order equals as it likes, and may have left out equals of the last one.
 */
export function readBest(values: Float32Array, vocabSize: number): BestTokens {
  const count = values.length / 2;
  const last = values[count - 1]!;
  // Everything else that came has a place behind the vocabulary or is banned.
  const isAll = last <= BANNED_LOGIT || count >= vocabSize;
  let kept = 0;
  while (kept < count && values[kept]! > BANNED_LOGIT) kept++;
  const ranks = Array.from({ length: kept }, (_, index) => index).sort(
    (a, b) => values[b]! - values[a]! || values[count + a]! - values[count + b]!,
  );
  const logits = Float32Array.from(ranks, rank => values[rank]!);
  const tokenIds = Int32Array.from(ranks, rank => values[count + rank]!);
  let knownCount = kept;
  if (!isAll) while (knownCount > 0 && logits[knownCount - 1] === last) knownCount--;
  return { logits, tokenIds, knownCount, isAll };
}
