// Perplexity of texts under a model: how well it predicts each token from those before it, measured through the prompt log
// probabilities of an engine. It knows neither files nor builds.

import type { Engine } from './engine.ts';

/** One text in a context of its own. The first token is given, so it has no log probability. */
export interface ScoredText {
  readonly tokenIds: readonly number[];
  /** Sum of the natural logarithms of the probabilities of all tokens but the first. */
  readonly logprobSum: number;
}

/** Exponential of the mean negative log probability over all tokens but the first of each text. */
export function perplexity(texts: readonly ScoredText[]): number {
  const tokenCount = texts.reduce((sum, { tokenIds }) => sum + Math.max(0, tokenIds.length - 1), 0);
  if (tokenCount === 0) throw new Error('Perplexity needs a text of at least two tokens.');
  return Math.exp(-texts.reduce((sum, { logprobSum }) => sum + logprobSum, 0) / tokenCount);
}

/**
 * Scores each text in a context of its own. Longer ones than `longestLength` tokens are cut into several.
 *
 * Throws: as `Engine.generate`, and for an engine without log probabilities of the prompt.
 */
export async function scoreTexts(
  engine: Engine,
  texts: readonly string[],
  longestLength = Number.POSITIVE_INFINITY,
): Promise<readonly ScoredText[]> {
  const scored: ScoredText[] = [];
  for (const text of texts) {
    const tokenIds = await engine.encode(text);
    if (tokenIds.length <= longestLength) scored.push(await scoreTokens(engine, tokenIds));
    else
      for (let from = 0; from < tokenIds.length; from += longestLength)
        scored.push(await scoreTokens(engine, tokenIds.slice(from, from + longestLength)));
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
    const logprobs = event.promptLogprobs.slice(1);
    return { tokenIds, logprobSum: logprobs.reduce((sum, entry) => sum + entry!.logprob, 0) };
  }
  throw new Error('The engine gave no log probabilities of the prompt.');
}
