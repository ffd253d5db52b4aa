import { describe, expect, it } from 'vitest';
import {
  areWorthwhile,
  chooseDraftLength,
  expectedTokens,
  FIRST_RATES,
  LONGEST_DRAFT,
  updateRate,
} from './draft-policy.ts';

function rateAfter(...outcomes: readonly boolean[]): number {
  return outcomes.reduce((rate, isRight) => updateRate(rate, { isRight }), FIRST_RATES.text);
}

describe('the policy of drafts', () => {
  it('expects one token and the accepted part of the draft', () => {
    expect(expectedTokens({ rate: 0, length: 7 })).toBe(1);
    expect(expectedTokens({ rate: 1, length: 7 })).toBe(8);
    expect(expectedTokens({ rate: 0.5, length: 3 })).toBeCloseTo(1 + 0.5 + 0.25 + 0.125, 12);
  });

  it('drafts nothing before tokens were accepted, a little after two, and most after many', () => {
    expect(chooseDraftLength(FIRST_RATES.text, 1)).toBe(0);
    expect(chooseDraftLength(rateAfter(true), 1)).toBe(0);
    expect(chooseDraftLength(rateAfter(true, true), 1)).toBeGreaterThan(0);
    expect(chooseDraftLength(rateAfter(...Array<boolean>(30).fill(true)), 1)).toBe(LONGEST_DRAFT);
  });

  it('drafts longer the higher the acceptance rate is', () => {
    const lengths = Array.from({ length: 101 }, (_, percent) => chooseDraftLength(percent / 100, 1));
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(new Set(lengths)).toEqual(new Set([0, 1, 3, 7, 15]));
  });

  it('stops after a few rejected tokens, however many were accepted before', () => {
    const rate = rateAfter(...Array<boolean>(100).fill(true), ...Array<boolean>(6).fill(false));
    expect(chooseDraftLength(rate, 1)).toBe(0);
  });

  it('drafts less the more sequences run, and never where a batched step is cheaper than certain drafts', () => {
    const lengthOf = (count: number, rate: number): number => chooseDraftLength(rate, count);
    for (const rate of [0.5, 0.8, 0.95, 1]) {
      for (let count = 1; count < 20; count++)
        expect(lengthOf(count, rate) > 0 || lengthOf(count + 1, rate) === 0).toBe(true);
    }
    expect([1, 2, 3, 4, 6, 8].map(count => lengthOf(count, 1))).toEqual([15, 15, 7, 7, 0, 0]);
  });

  it('lets no sequence wait for the drafts of others without a gain of its own', () => {
    expect(areWorthwhile([{ rate: 1, length: 15 }])).toBe(true);
    expect(areWorthwhile([{ rate: 0.3, length: 1 }])).toBe(false);
    expect(
      areWorthwhile([
        { rate: 1, length: 15 },
        { rate: 1, length: 15 },
      ]),
    ).toBe(true);
    expect(
      areWorthwhile([
        { rate: 1, length: 15 },
        { rate: 0, length: 0 },
      ]),
    ).toBe(false);
    expect(
      areWorthwhile([
        { rate: 1, length: 15 },
        { rate: 0.6, length: 1 },
      ]),
    ).toBe(false);
  });
});
