// Metrics of splits over the steps as the lines of charts. Pure.

export interface SplitStep {
  readonly split: string;
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
}

/** One metric: a line for each split, on the steps that any of them has. */
export interface MetricCurve {
  readonly metric: string;
  readonly steps: readonly number[];
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

/** A curve for each metric, `reward` first, the others by name. */
export function toMetricCurves(rows: readonly SplitStep[]): readonly MetricCurve[] {
  const metrics = [...new Set(rows.flatMap(row => Object.keys(row.metrics)))];
  metrics.sort((left, right) => rank(left) - rank(right) || left.localeCompare(right));
  return metrics.map(metric => {
    const having = rows.filter(row => metric in row.metrics);
    const steps = [...new Set(having.map(({ step }) => step))].sort((left, right) => left - right);
    const lines = [...Map.groupBy(having, ({ split }) => split)].map(([split, points]) => {
      const byStep = new Map(points.map(point => [point.step, point.metrics[metric]!]));
      return { label: split, values: steps.map(step => byStep.get(step) ?? null) };
    });
    return { metric, steps, lines };
  });
}

const rank = (metric: string) => (metric === 'reward' ? 0 : 1);
