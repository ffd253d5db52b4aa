import { describe, expect, it } from 'vitest';
import {
  HISTORY_LENGTH,
  hitShare,
  type LoadSample,
  type ModelLoad,
  pushSample,
  quantileOf,
  toRates,
  toSeries,
  windowOf,
} from './load-history.ts';

const durations = { bounds: [0.1, 1, 10], counts: [0, 0, 0], count: 0, sum: 0 };
const model = (given: Partial<ModelLoad>): ModelLoad => ({
  id: 'a',
  runningCount: 0,
  waitingCount: 0,
  cacheUsedShare: 0,
  cacheQueryTokenCount: 0,
  cacheHitTokenCount: 0,
  preemptionCount: 0,
  promptTokenCount: 0,
  generatedTokenCount: 0,
  firstToken: durations,
  tokenGap: durations,
  ...given,
});
const sample = (atMs: number, models: readonly ModelLoad[] = [], requestCount = 0): LoadSample => ({
  atMs,
  residentBytes: 0,
  models: [...models],
  routes: [{ method: 'GET', route: '/health', status: '2xx', count: requestCount }],
});

describe('the history of the load', () => {
  it('keeps the newest samples, and begins anew after a restart', () => {
    const many = Array.from({ length: HISTORY_LENGTH + 5 }, (_, index) => sample(index * 1000, [], index));
    const history = many.reduce<readonly LoadSample[]>(pushSample, []);
    expect([history.length, history[0]!.atMs]).toEqual([HISTORY_LENGTH, 5000]);
    expect(pushSample(history, sample(999_000, [], 1))).toHaveLength(1);
  });

  it('adds the models up, or shows one', () => {
    const history = [
      sample(0, [model({ runningCount: 1, generatedTokenCount: 10 }), model({ id: 'b', runningCount: 2 })]),
      sample(2000, [
        model({ runningCount: 3, generatedTokenCount: 50, cacheUsedShare: 0.25 }),
        model({ id: 'b', cacheUsedShare: 0.5 }),
      ]),
    ];
    expect(toSeries(history, null)).toMatchObject({
      times: [0, 2],
      running: [3, 3],
      tokenRate: [null, 20],
      cacheUsed: [0, 0.5],
    });
    expect(toSeries(history, 'a')).toMatchObject({ running: [1, 3], cacheUsed: [0, 0.25] });
  });

  it('has no rate where a counter fell', () => {
    expect(toRates([0, 1000, 2000], [5, 2, 4])).toEqual([null, null, 2]);
  });

  it('compares the ends of the last minute', () => {
    const history = [sample(0), sample(30_000), sample(61_000)];
    expect(windowOf(history)).toEqual({ from: history[1], to: history[2] });
    expect(windowOf([sample(0)])).toBe(undefined);
  });

  it('gives the share of hits since the earlier sample', () => {
    const before = model({ cacheQueryTokenCount: 100, cacheHitTokenCount: 100 });
    expect(hitShare(before, model({ cacheQueryTokenCount: 300, cacheHitTokenCount: 150 }))).toBe(0.25);
    expect(hitShare(before, before)).toBe(null);
  });

  it('interpolates quantiles within their bucket', () => {
    const after = { ...durations, counts: [2, 6, 8], count: 8 };
    expect(quantileOf(undefined, after, 0.5)).toBeCloseTo(0.1 + 0.9 * 0.5, 12);
    expect(quantileOf({ ...durations, counts: [2, 4, 6], count: 6 }, after, 0.5)).toBeCloseTo(0.55, 12);
    expect(quantileOf(after, after, 0.5)).toBe(null);
    expect(quantileOf(undefined, { ...after, count: 100 }, 0.99)).toBe(10);
  });
});
