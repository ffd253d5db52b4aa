import { expect, test } from 'vitest';
import type { Engine } from './engine.ts';
import { perplexity, scoreTexts } from './perplexity.ts';
import type { GenerationEvent, TokenLogprob } from './request/generation-event.ts';
import type { GenerationRequest } from './request/generation-request.ts';

test('is the number of tokens among which an even distribution chooses', () => {
  const tokenIds = [5, 6, 7, 8];
  expect(perplexity([{ tokenIds, logprobs: Array(3).fill(Math.log(1 / 20)) }])).toBeCloseTo(20);
});

test('weighs texts by their tokens, the first of each left out', () => {
  const short = { tokenIds: [1, 2], logprobs: [Math.log(1 / 2)] };
  const long = { tokenIds: [1, 2, 3, 4], logprobs: Array(3).fill(Math.log(1 / 8)) };
  expect(perplexity([short, long])).toBeCloseTo((2 * 8 ** 3) ** (1 / 4));
});

test('refuses texts in which nothing was predicted', () => {
  expect(() => perplexity([])).toThrow('at least two tokens');
  expect(() => perplexity([{ tokenIds: [1], logprobs: [] }])).toThrow('at least two tokens');
});

test('is measured on each text alone, from the log probabilities of its tokens', async () => {
  const requests: GenerationRequest[] = [];
  const engine = evenEngine(requests);
  const scored = await scoreTexts(engine, ['abc', 'de']);
  expect(scored.map(({ tokenIds }) => tokenIds)).toEqual([
    [97, 98, 99],
    [100, 101],
  ]);
  expect(requests.map(({ prompt }) => prompt)).toEqual([
    { tokenIds: [97, 98, 99] },
    { tokenIds: [100, 101] },
  ]);
  expect(perplexity(scored)).toBeCloseTo(4);
});

test('cuts texts that are longer than a context', async () => {
  const scored = await scoreTexts(evenEngine([]), ['abcde', 'fg'], 2);
  expect(scored.map(({ tokenIds }) => tokenIds)).toEqual([[97, 98], [99, 100], [101], [102, 103]]);
  expect(perplexity(scored)).toBeCloseTo(4);
});

test('begins every piece with the tokens that the tokenizer puts before a text', async () => {
  const scored = await scoreTexts(evenEngine([], promptReady, [2]), ['abc', 'd'], 3);
  expect(scored.map(({ tokenIds }) => tokenIds)).toEqual([
    [2, 97, 98],
    [2, 99],
    [2, 100],
  ]);
  await expect(scoreTexts(evenEngine([], promptReady, [2]), ['abc'], 1)).rejects.toThrow('no room');
});

test('is refused for an engine that gives no log probabilities', async () => {
  const engine = evenEngine([], () => ({ kind: 'prompt-ready', promptTokenIds: [], cachedTokenCount: 0 }));
  await expect(scoreTexts(engine, ['abc'])).rejects.toThrow('no log probabilities');
});

/** An engine whose tokens are bytes, each with a probability of a quarter. */
function evenEngine(
  requests: GenerationRequest[],
  toEvent = promptReady,
  start: readonly number[] = [],
): Engine {
  const engine: Pick<Engine, 'encode' | 'generate'> = {
    encode: async (text, options) => [
      ...(options?.addSpecialTokens ? start : []),
      ...new TextEncoder().encode(text),
    ],
    async *generate(request) {
      requests.push(request);
      yield toEvent(request);
    },
  };
  return engine as Engine;
}

function promptReady({ prompt, promptLogprobs }: GenerationRequest): GenerationEvent {
  expect(promptLogprobs).toEqual({ topCount: 0 });
  if (typeof prompt === 'string' || prompt.tokenIds === undefined) throw new Error('Tokens are expected.');
  const promptTokenIds = [...prompt.tokenIds];
  const entries = promptTokenIds.map((tokenId, index): TokenLogprob | null =>
    index === 0
      ? null
      : { tokenId, text: '', bytes: new Uint8Array(), logprob: Math.log(1 / 4), rank: 1, top: [] },
  );
  return { kind: 'prompt-ready', promptTokenIds, cachedTokenCount: 0, promptLogprobs: entries };
}
