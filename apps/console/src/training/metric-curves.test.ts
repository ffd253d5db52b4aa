import { expect, it } from 'vitest';
import { toMetricCurves } from './metric-curves.ts';

it('has a curve for each metric and a line for each split', () => {
  const rows = [
    { split: 'train', step: 2, metrics: { reward: 0.5, correct: 1 }, counts: {} },
    { split: 'train', step: 1, metrics: { reward: 0.25 }, counts: {} },
    { split: 'val', step: 2, metrics: { reward: 0.75 }, counts: {} },
  ];
  expect(toMetricCurves(rows)).toEqual([
    {
      metric: 'reward',
      steps: [1, 2],
      lines: [
        { label: 'train', colour: 0, values: [0.25, 0.5] },
        { label: 'val', colour: 1, values: [null, 0.75] },
      ],
    },
    { metric: 'correct', steps: [2], lines: [{ label: 'train', colour: 0, values: [1] }] },
  ]);
});

it('has a band of one deviation around a mean where the deviation is known', () => {
  const rows = [
    { split: 'train', step: 1, metrics: { reward: 0.5, reward_std_dev: 0.25 }, counts: {} },
    { split: 'train', step: 2, metrics: { reward: 0.75 }, counts: {} },
  ];
  expect(toMetricCurves(rows)[0]!.lines).toEqual([
    { label: 'train', colour: 0, values: [0.5, 0.75] },
    { label: 'train − σ', colour: 0, values: [0.25, null], isEdge: true },
    { label: 'train + σ', colour: 0, values: [0.75, null], isEdge: true, bandTo: 1 },
  ]);
});
