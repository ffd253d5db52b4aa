import { describe, expect, it } from 'vitest';
import { NEUTRAL_SAMPLING, type SamplingParams } from '../../request/sampling-params.ts';
import { counterKey } from './counter-random.ts';
import type { LogitsProcessor } from './logits-processor.ts';
import { allowTokens, banEnds, banWords } from './processors/banned-tokens.ts';
import { biasTokens } from './processors/logit-bias.ts';
import { Sampler } from './sampler.ts';

/** How often each token is drawn over many positions. */
function countDraws(
  row: readonly number[],
  params: Partial<SamplingParams>,
  drawCount: number,
  processors: readonly LogitsProcessor[] = [],
): number[] {
  const sampler = new Sampler(row.length);
  const counts = new Array<number>(row.length).fill(0);
  for (let position = 0; position < drawCount; position++) {
    const { tokenId } = sampler.sample(Float32Array.from(row), {
      params: { ...NEUTRAL_SAMPLING, ...params },
      randomKey: counterKey(77n),
      position,
      processors,
      output: { outputTokenIds: [], tokenCounts: null },
      topLogprobCount: undefined,
    });
    counts[tokenId]!++;
  }
  return counts;
}

/** Ids of the tokens that are drawn at all. */
function drawn(row: readonly number[], params: Partial<SamplingParams>): number[] {
  return countDraws(row, params, 2000).flatMap((count, id) => (count > 0 ? [id] : []));
}

describe('Sampler', () => {
  it('begins reasoning with a token that the request does not ban or bias away', () => {
    const sampler = new Sampler(4);
    const draw = (processors: readonly LogitsProcessor[]) =>
      sampler.sample(Float32Array.of(1, 2, 3, 9), {
        params: NEUTRAL_SAMPLING,
        randomKey: counterKey(1n),
        position: 0,
        processors,
        output: { outputTokenIds: [], tokenCounts: null },
        topLogprobCount: undefined,
        mask: { words: Uint32Array.of(0b0010), endTokenId: null, reasoningTokenId: 3 },
      }).tokenId;
    expect(draw([])).toBe(3);
    expect(draw([biasTokens([{ tokenId: 0, bias: 1 }])])).toBe(3);
    for (const banning of [
      allowTokens([1, 2]),
      banWords([[3]]),
      banEnds([0, 1, 2, 3], 1),
      biasTokens([{ tokenId: 3, bias: -100 }]),
    ])
      expect(draw([banning])).toBe(1);
  });

  it('draws tokens with the probabilities of the softmax at the temperature', () => {
    const row = [0, 1, 2, 3, -1, 0.5];
    for (const temperature of [0.5, 1, 2]) {
      const weights = row.map(logit => Math.exp(logit / temperature));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const drawCount = 40_000;
      const chiSquare = countDraws(row, { temperature }, drawCount).reduce((sum, count, id) => {
        const expected = (drawCount * weights[id]!) / total;
        return sum + (count - expected) ** 2 / expected;
      }, 0);
      // 5 degrees of freedom: 99.9 % of right samples stay below 20.5.
      expect(chiSquare).toBeLessThan(20.5);
    }
  });

  it('keeps all tokens that tie with the k-th best', () => {
    expect(drawn([3, 1, 2, 2, 2, 0], { topK: 2 })).toEqual([0, 2, 3, 4]);
    expect(drawn([3, 1, 2, 2, 2, 0], { topK: 1 })).toEqual([0]);
    expect(drawn([1, 1, 1], { topK: 1 })).toEqual([0, 1, 2]);
  });

  it('keeps the fewest best tokens that reach top-p, the lowest ids of equals', () => {
    const logits = [0.1, 0.4, 0.2, 0.3].map(Math.log);
    expect(drawn(logits, { topP: 0.35 })).toEqual([1]);
    expect(drawn(logits, { topP: 0.65 })).toEqual([1, 3]);
    expect(drawn(logits, { topP: 0.75 })).toEqual([1, 2, 3]);
    expect(drawn(logits, { topP: 1e-9 })).toEqual([1]);
    expect(drawn([0, 0, 0, 0], { topP: 0.5 })).toEqual([0, 1]);
    expect(drawn([0, 0, 0, 0], { topP: 0.51 })).toEqual([0, 1, 2]);
  });

  it('sums top-p over what top-k left', () => {
    const logits = [0.4, 0.3, 0.2, 0.1].map(Math.log);
    expect(drawn(logits, { topP: 0.55 })).toEqual([0, 1]);
    expect(drawn(logits, { topP: 0.55, topK: 2 })).toEqual([0]);
  });

  it('drops tokens below a share of the best one, at the temperature', () => {
    const logits = [0.5, 0.26, 0.24].map(Math.log);
    expect(drawn(logits, { minP: 0.5 })).toEqual([0, 1]);
    expect(drawn(logits, { minP: 0.5, temperature: 2 })).toEqual([0, 1, 2]);
    expect(drawn([1, 1, 0.999], { minP: 1 })).toEqual([0, 1]);
  });

  it('never draws a banned token', () => {
    expect(countDraws([5, 1, 4], {}, 500, [banEnds([0, 2], 1)])).toEqual([0, 500, 0]);
  });

  it('refuses a row that the request itself leaves without a token, with the code of a wrong request', () => {
    for (const temperature of [0, 1]) {
      const settings = [{ temperature }, 1, [banEnds([1, 2, 1], 1)]] as const;
      expect(() => countDraws([-Infinity, 1, 4], ...settings)).toThrow(
        expect.objectContaining({ code: 'invalid_request', parameter: 'sampling.allowedTokenIds' }),
      );
    }
  });

  it('refuses a row without a finite logit or with a NaN', () => {
    for (const row of [
      [-Infinity, -Infinity],
      [1, Number.NaN],
      [Number.NaN, 1],
      [Infinity, 1],
    ]) {
      expect(() => countDraws(row, {}, 1)).toThrow('not numbers');
    }
  });

  it('reports log probabilities of the row as it came, whatever was edited and drawn', () => {
    const row = [0.4, 0.3, 0.2, 0.1].map(Math.log);
    const sampler = new Sampler(4);
    const { tokenId, logprobs } = sampler.sample(Float32Array.from(row), {
      params: { ...NEUTRAL_SAMPLING, temperature: 0.5, topK: 1 },
      randomKey: counterKey(1n),
      position: 0,
      processors: [banEnds([0], 1)],
      output: { outputTokenIds: [], tokenCounts: null },
      topLogprobCount: 2,
    });
    expect(tokenId).toBe(1);
    expect(logprobs).toMatchObject({ tokenId: 1, rank: 2, topTokenIds: Int32Array.of(0, 1) });
    expect(Math.exp(logprobs!.logprob)).toBeCloseTo(0.3, 6);
    expect([...logprobs!.topLogprobs].map(Math.exp)).toEqual([
      expect.closeTo(0.4, 6),
      expect.closeTo(0.3, 6),
    ]);
  });
});
