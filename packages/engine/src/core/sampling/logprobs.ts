// Log probabilities from one row of logits: of a token and of the best candidates. Callers: the sampler, for generated
// tokens and for those of the prompt.

import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import type { Candidates } from './candidates.ts';
import { FINEST_BITS, weightScale } from './kernels/token-weight.ts';
import type { LogitsRow } from './logits-row.ts';

/**
 * Log probabilities of `tokenId` and of the `topCount` best tokens, ties by id. The
 * row is scanned. Results are float32. Mutates: `candidates`.
 * Throws: when the row is not made of numbers, that is, when the model is broken.
 */
export function readRowLogprobs(
  row: LogitsRow,
  candidates: Candidates,
  tokenId: number,
  topCount: number,
): TokenLogprobs {
  if (!Number.isFinite(row.largest)) throw new Error('The model returned logits that are not numbers.');
  const own = row.logits[tokenId]!;
  const total = row.weigh(weightScale(row.largest, 1, FINEST_BITS), -Infinity);
  const normalizer = row.largest + Math.log(total * 2 ** -FINEST_BITS);
  const best = findBest(row, candidates, Math.min(topCount, row.vocabSize));
  return {
    tokenId,
    logprob: Math.fround(own - normalizer),
    rank: 1 + row.countAbove(own),
    topTokenIds: Int32Array.from(best, i => candidates.tokenIds[i]!),
    topLogprobs: Float32Array.from(best, i => candidates.logits[i]! - normalizer),
  };
}

/** Indexes of the best candidates, best first. Mutates: `candidates`. */
function findBest(row: LogitsRow, candidates: Candidates, count: number): readonly number[] {
  if (count === 0) return [];
  row.gather(candidates, row.boundOfBest(count));
  const { logits } = candidates;
  // Best first, ties by id, because a later candidate never passes an equal one. Most candidates only meet the last place.
  const best: number[] = [];
  for (let i = 0; i < candidates.count; i++) {
    const logit = logits[i]!;
    if (best.length === count) {
      if (!(logit > logits[best[count - 1]!]!)) continue;
      best.pop();
    }
    let place = best.length;
    while (place > 0 && logits[best[place - 1]!]! < logit) place--;
    best.splice(place, 0, i);
  }
  return best;
}
