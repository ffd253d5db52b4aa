import { describe, expect, it } from 'vitest';
import { LoadEstimate } from './load-estimate.ts';

function estimateOf(stepMs: number, answerLength?: number): LoadEstimate {
  const estimate = new LoadEstimate();
  estimate.stepTook(stepMs);
  if (answerLength !== undefined) estimate.answerEnded(answerLength);
  return estimate;
}

describe('LoadEstimate', () => {
  it('is the shortest wait before the first observation', () => {
    expect(new LoadEstimate().waitMs(1, [{ outputLength: 0, maxTokens: 10 }])).toBe(1_000);
    expect(estimateOf(50).waitMs(1, [])).toBe(1_000);
  });

  it('waits for the running sequence that ends first', () => {
    const running = [
      { outputLength: 0, maxTokens: 500 },
      { outputLength: 10, maxTokens: 110 },
    ];
    expect(estimateOf(50).waitMs(1, running)).toBe(100 * 50);
    expect(estimateOf(50).waitMs(2, running)).toBe(500 * 50);
  });

  it('expects answers as long as those before, but never longer than they may be', () => {
    const running = [
      { outputLength: 20, maxTokens: 4_000 },
      { outputLength: 0, maxTokens: 60 },
    ];
    expect(estimateOf(100, 100).waitMs(1, running)).toBe(60 * 100);
    expect(estimateOf(100, 100).waitMs(2, running)).toBe(80 * 100);
  });

  it('counts whole answers for places further back', () => {
    expect(estimateOf(100, 50).waitMs(3, [{ outputLength: 40, maxTokens: 400 }])).toBe((2 * 50 + 10) * 100);
  });

  it('is at least a second and at most a minute', () => {
    expect(estimateOf(1, 10).waitMs(1, [{ outputLength: 9, maxTokens: 10 }])).toBe(1_000);
    expect(estimateOf(1_000, 10_000).waitMs(1, [{ outputLength: 0, maxTokens: 10_000 }])).toBe(60_000);
  });

  it('follows a load that changes', () => {
    const estimate = estimateOf(10, 100);
    for (let i = 0; i < 100; i++) estimate.stepTook(100);
    expect(estimate.waitMs(1, [{ outputLength: 0, maxTokens: 1_000 }])).toBeGreaterThan(9_900);
  });
});
