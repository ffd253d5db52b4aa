// Models under training: their metrics over the steps, checkpoints on the same axis, and trajectories.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Chart } from '../components/chart.tsx';
import { FailureNotice, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Select } from '../components/ui/input.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { ScrollRegion } from '../components/ui/scroll-region.tsx';
import { useTRPC } from '../connection/api-client.ts';
import { formatMetric } from './format-metric.ts';
import { toMetricCurves } from './metric-curves.ts';
import { TrajectoryTable } from './trajectory-table.tsx';
import { type TrainingModel, useCheckpoints, useSplitMetrics, useTrainingModels } from './use-training.ts';

const nameOf = ({ entity, project, name }: TrainingModel) => `${entity}/${project}/${name}`;
/** As the server lists and serves it: by its name alone where entity and project are the default. */
const checkpointId = (model: TrainingModel, step: number) =>
  `${nameOf(model).replace(/^default\/default\//, '')}:step${step}`;

export function TrainingPage() {
  const models = useTrainingModels();
  const [chosenId, setChosenId] = useState<string | null>(null);
  const model = models.data?.find(({ id }) => id === chosenId) ?? models.data?.[0];
  return (
    <Page
      title="Training"
      className="flex flex-col gap-3 p-4"
      actions={
        model !== undefined && (
          <Select
            aria-label="Model"
            className="w-64"
            value={model.id}
            onChange={({ target }) => setChosenId(target.value)}
          >
            {models.data?.map(each => (
              <option key={each.id} value={each.id}>
                {nameOf(each)}
              </option>
            ))}
          </Select>
        )
      }
    >
      {models.isError && <FailureNotice error={models.error} />}
      {models.isPending && <Notice>Loading…</Notice>}
      {models.data?.length === 0 && (
        <Notice>
          No model has been created through the training endpoints, or none that this key may see.
        </Notice>
      )}
      {model !== undefined && (
        <div key={model.id} className="flex flex-col gap-3">
          <p className="text-sm wrap-anywhere text-muted">
            {nameOf(model)}, trained from {model.base_model}, created {model.created_at.slice(0, 10)}
          </p>
          <MetricCharts modelId={model.id} />
          <CheckpointTable model={model} />
          <TrajectoryTable modelId={model.id} />
        </div>
      )}
    </Page>
  );
}

function MetricCharts({ modelId }: { readonly modelId: string }) {
  const metrics = useSplitMetrics(modelId);
  const checkpoints = useCheckpoints(modelId);
  const curves = useMemo(() => toMetricCurves(metrics.data?.data ?? []), [metrics.data]);
  const marks = useMemo(() => checkpoints.data?.map(({ step }) => step) ?? [], [checkpoints.data]);
  if (metrics.isError) return <FailureNotice error={metrics.error} />;
  if (curves.length === 0) return null;
  return (
    <div className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
      {curves.map(({ metric, steps, lines }) => (
        <Panel key={metric} title={metric}>
          <Chart
            label={`Mean of ${metric} by step; dashed lines are checkpoints`}
            axis="step"
            xs={steps}
            lines={lines}
            marks={marks}
            format={formatMetric}
          />
        </Panel>
      ))}
    </div>
  );
}

function CheckpointTable({ model }: { readonly model: TrainingModel }) {
  const checkpoints = useCheckpoints(model.id);
  const trpc = useTRPC();
  const served = useQuery(trpc.models.list.queryOptions());
  // Checkpoints with weights answer chats; the others have metrics only.
  const servedIds = useMemo(() => new Set(served.data?.data.map(({ id }) => id)), [served.data]);
  if (checkpoints.isError) return <FailureNotice error={checkpoints.error} />;
  if (checkpoints.data === undefined || checkpoints.data.length === 0) return null;
  return (
    <Panel title="Checkpoints">
      <ScrollRegion label="List of checkpoints" className="max-h-56">
        <ul className="text-sm">
          {checkpoints.data.toReversed().map(({ id, step, metrics }) => (
            <li key={id} className="flex flex-wrap items-center gap-3 border-t px-3 py-1 first:border-t-0">
              <span className="w-20">step {step}</span>
              <span className="min-w-0 flex-1 truncate text-muted">
                {Object.entries(metrics)
                  .map(([name, value]) => `${name} ${formatMetric(value)}`)
                  .join(', ')}
              </span>
              {servedIds.has(checkpointId(model, step)) && (
                <Link
                  to="/"
                  search={{ model: checkpointId(model, step) }}
                  className="rounded-md px-2 py-1 text-xs text-accent hover:bg-hover"
                >
                  Chat<span className="sr-only"> with step {step}</span>
                </Link>
              )}
            </li>
          ))}
        </ul>
      </ScrollRegion>
    </Panel>
  );
}
