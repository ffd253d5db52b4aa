// The loss of a build against the reference on the same texts. Texts are compared in pairs, because their own perplexities
// differ far more than those of two builds.

import { perplexity, type ScoredText } from '@ortler/engine';

export interface PerplexityLoss {
  /** By how much the perplexity is above that of the reference. */
  readonly percent: number;
  /** Standard error of `percent`, from the spread of the loss over the texts. */
  readonly standardError: number;
}

/** Throws: when the texts are not the same tokens. */
export function comparePerplexity(
  texts: readonly ScoredText[],
  reference: readonly ScoredText[],
): PerplexityLoss {
  if (texts.length !== reference.length) throw new Error('Perplexities of other texts are not comparable.');
  const pairs = texts.map((text, index) => {
    const { tokenIds, logprobs } = reference[index]!;
    if (tokenIds.length !== text.tokenIds.length || tokenIds.some((id, i) => id !== text.tokenIds[i]))
      throw new Error(`Text ${index} of the reference has other tokens.`);
    const loss = logprobs.reduce((sum, logprob, at) => sum + logprob - text.logprobs[at]!, 0);
    return { tokenCount: tokenIds.length - 1, loss };
  });
  const ratio = perplexity(texts) / perplexity(reference);
  const tokenCount = pairs.reduce((sum, pair) => sum + pair.tokenCount, 0);
  const mean = Math.log(ratio);
  const squares = pairs.reduce((sum, pair) => sum + (pair.loss - mean * pair.tokenCount) ** 2, 0);
  const n = pairs.length;
  const error = n > 1 ? Math.sqrt((squares * n) / (n - 1)) / tokenCount : Number.NaN;
  return { percent: 100 * (ratio - 1), standardError: 100 * ratio * error };
}
