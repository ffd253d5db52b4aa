// Perplexity of texts under a model: how well it predicts each token from those before it, measured through the prompt log
// probabilities of an engine. It knows neither files nor builds.

import type { Engine } from './engine.ts';

/** One text in a context of its own. The first token is given, so it has no log probability. */
export interface ScoredText {
  readonly tokenIds: readonly number[];
  /** Natural logarithms of the probabilities of all tokens but the first. */
  readonly logprobs: readonly number[];
}

/** Exponential of the mean negative log probability over all tokens but the first of each text. */
export function perplexity(texts: readonly ScoredText[]): number {
  const tokenCount = texts.reduce((sum, { tokenIds }) => sum + Math.max(0, tokenIds.length - 1), 0);
  if (tokenCount === 0) throw new Error('Perplexity needs a text of at least two tokens.');
  const logprobSum = texts.flatMap(({ logprobs }) => logprobs).reduce((sum, logprob) => sum + logprob, 0);
  return Math.exp(-logprobSum / tokenCount);
}

/**
 * Scores each text in a context of its own, after the tokens that the tokenizer puts before a text. Longer ones than
 * `longestLength` tokens are cut into several.
 *
 * Throws: as `Engine.generate`, and for an engine without log probabilities of the prompt.
 */
export async function scoreTexts(
  engine: Engine,
  texts: readonly string[],
  longestLength = Number.POSITIVE_INFINITY,
): Promise<readonly ScoredText[]> {
  // A model that was trained with a token before every text predicts badly without it.
  const start = await engine.encode('', { addSpecialTokens: true });
  const pieceLength = longestLength - start.length;
  if (pieceLength < 1)
    throw new RangeError(`Texts of ${longestLength} tokens have no room for a token of text.`);
  const scored: ScoredText[] = [];
  for (const text of texts) {
    const tokenIds = await engine.encode(text);
    for (let from = 0; from < tokenIds.length; from += pieceLength)
      scored.push(await scoreTokens(engine, [...start, ...tokenIds.slice(from, from + pieceLength)]));
  }
  return scored;
}

async function scoreTokens(engine: Engine, tokenIds: readonly number[]): Promise<ScoredText> {
  const events = engine.generate({
    prompt: { tokenIds },
    promptLogprobs: { topCount: 0 },
    sampling: { temperature: 0 },
    stop: { maxTokens: 1 },
  });
  for await (const event of events) {
    if (event.kind !== 'prompt-ready' || event.promptLogprobs === undefined) continue;
    return { tokenIds, logprobs: event.promptLogprobs.slice(1).map(entry => entry!.logprob) };
  }
  throw new Error('The engine gave no log probabilities of the prompt.');
}
