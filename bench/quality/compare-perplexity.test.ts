import { expect, test } from 'vitest';
import { comparePerplexity } from './compare-perplexity.ts';

const text = (tokenCount: number, logprobSum: number) => ({
  tokenIds: Array.from({ length: tokenCount + 1 }, (_, index) => index),
  logprobs: Array<number>(tokenCount).fill(logprobSum / tokenCount),
});

test('the loss is the ratio of perplexities', () => {
  const loss = comparePerplexity([text(10, -22), text(30, -66)], [text(10, -20), text(30, -60)]);
  expect(loss.percent).toBeCloseTo(100 * (Math.exp(8 / 40) - 1));
});

test('a loss that is the same in every text has no error', () => {
  const { standardError } = comparePerplexity([text(10, -21), text(20, -41)], [text(10, -20), text(20, -39)]);
  expect(standardError).toBeCloseTo(0);
});

test('a loss that differs between texts has an error', () => {
  const { percent, standardError } = comparePerplexity(
    [text(10, -21), text(10, -19)],
    [text(10, -20), text(10, -20)],
  );
  expect(percent).toBeCloseTo(0);
  // Two losses of 0.1 and -0.1 per token: their mean has a standard error of 0.1.
  expect(standardError).toBeCloseTo(10);
});

test('other texts are refused', () => {
  expect(() => comparePerplexity([text(10, -20)], [])).toThrow('not comparable');
  expect(() => comparePerplexity([text(10, -20)], [text(11, -20)])).toThrow('other tokens');
});
