// The curves of the load.

import { useMemo } from 'react';
import { Chart } from '../components/chart.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { type LoadSample, toSeries } from './load-history.ts';

const percent = (share: number) => `${Math.round(share * 100)}%`;
const short = (value: number) => (value >= 100 ? value.toFixed(0) : String(Math.round(value * 10) / 10));

export function LoadCharts({
  history,
  modelId,
}: {
  readonly history: readonly LoadSample[];
  readonly modelId: string | null;
}) {
  const series = useMemo(() => toSeries(history, modelId), [history, modelId]);
  const { times, running, waiting, tokenRate, cacheUsed } = series;
  return (
    <div className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
      <Panel title="Requests" className="p-0">
        <Chart
          label="Running and waiting sequences"
          axis="clock"
          xs={times}
          format={short}
          lines={[
            { label: 'running', values: running },
            { label: 'waiting', values: waiting },
          ]}
        />
      </Panel>
      <Panel title="Tokens per second">
        <Chart
          label="Generated tokens per second"
          axis="clock"
          xs={times}
          format={short}
          lines={[{ label: 'tokens/s', values: tokenRate }]}
        />
      </Panel>
      <Panel title="KV cache in use">
        <Chart
          label="Share of the KV cache in use"
          axis="clock"
          xs={times}
          format={percent}
          yMax={1}
          lines={[{ label: 'in use', values: cacheUsed }]}
        />
      </Panel>
    </div>
  );
}
