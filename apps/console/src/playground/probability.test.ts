import { expect, it } from 'vitest';
import { formatProbability, perplexityOf, toProbability, visibleText } from './probability.ts';

it('turns log probabilities into probabilities of at most 1', () => {
  expect(toProbability(0)).toBe(1);
  expect(toProbability(Math.log(0.25))).toBeCloseTo(0.25, 12);
  // Sums in float32 can come out above 0.
  expect(toProbability(1e-7)).toBe(1);
  expect(toProbability(-9999)).toBe(0);
});

it.each([
  [1, '100%'],
  [0.99996, '99.996%'],
  [0.9994, '99.9%'],
  [0.5, '50.0%'],
  [0.0321, '3.2%'],
  [0.000421, '0.04%'],
  [1e-9, '<0.001%'],
])('writes the probability %s as %s', (probability, text) => {
  expect(formatProbability(Math.log(probability))).toBe(text);
});

it('gives the perplexity of a uniform choice as the number of its options', () => {
  const quarter = { logprob: Math.log(0.25) };
  expect(perplexityOf([quarter, quarter])).toBeCloseTo(4, 12);
  expect(perplexityOf([])).toBe(null);
});

it('shows white space and broken characters', () => {
  expect([' a', '\n', ''].map(visibleText)).toEqual(['·a', '↵', '∅']);
});
