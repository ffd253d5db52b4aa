// Metrics of splits over the steps as the lines of charts. Pure.

import type { ChartLine } from '../components/chart.tsx';

export interface SplitStep {
  readonly split: string;
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
}

/** One metric: a line for each split, on the steps that any of them has, in a band where its spread is known. */
export interface MetricCurve {
  readonly metric: string;
  readonly steps: readonly number[];
  readonly lines: readonly ChartLine[];
}

/** The server names the deviation of a metric so; that of the reward is the mean over groups. */
const deviationOf = (metric: string) => `${metric}_std_dev`;

/** A curve for each metric, `reward` first, the others by name. */
export function toMetricCurves(rows: readonly SplitStep[]): readonly MetricCurve[] {
  const metrics = [...new Set(rows.flatMap(row => Object.keys(row.metrics)))];
  metrics.sort((left, right) => rank(left) - rank(right) || left.localeCompare(right));
  return metrics.map(metric => {
    const having = rows.filter(row => metric in row.metrics);
    const steps = [...new Set(having.map(({ step }) => step))].sort((left, right) => left - right);
    const lines: ChartLine[] = [];
    for (const [colour, [split, points]] of [...Map.groupBy(having, ({ split }) => split)].entries()) {
      const byStep = new Map(points.map(point => [point.step, point.metrics]));
      const valuesAt = (spread: number) =>
        steps.map(step => {
          const own = byStep.get(step);
          const value = own?.[metric];
          const deviation = own?.[deviationOf(metric)];
          if (value === undefined || (spread !== 0 && deviation === undefined)) return null;
          return value + spread * (deviation ?? 0);
        });
      lines.push({ label: split, colour, values: valuesAt(0) });
      if (!points.some(point => deviationOf(metric) in point.metrics)) continue;
      const lower = lines.push({ label: `${split} − σ`, colour, values: valuesAt(-1), isEdge: true }) - 1;
      lines.push({ label: `${split} + σ`, colour, values: valuesAt(1), isEdge: true, bandTo: lower });
    }
    return { metric, steps, lines };
  });
}

const rank = (metric: string) => (metric === 'reward' ? 0 : 1);
