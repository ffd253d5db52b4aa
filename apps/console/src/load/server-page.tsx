// The server's load, live: one sample a second.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { formatBytes } from '../components/format-bytes.ts';
import { FailureNotice, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Badge } from '../components/ui/badge.tsx';
import { Select } from '../components/ui/input.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { ScrollRegion } from '../components/ui/scroll-region.tsx';
import { TableHead } from '../components/ui/table-head.tsx';
import { useTRPC } from '../connection/api-client.ts';
import { serverUrl } from '../connection/server-url.ts';
import { KeyTable } from './key-table.tsx';
import { LoadCharts } from './load-charts.tsx';
import { hitShare, type LoadSample, quantileOf, type ServerFacts, windowOf } from './load-history.ts';
import { useLiveLoad } from './use-live-load.ts';

export function ServerPage() {
  const trpc = useTRPC();
  const facts = useQuery(trpc.server.facts.queryOptions());
  const { history, problem } = useLiveLoad();
  const [modelId, setModelId] = useState<string | null>(null);
  const last = history.at(-1);
  return (
    <Page
      title="Server"
      className="flex flex-col gap-3 p-4"
      actions={
        <>
          <Select
            aria-label="Model"
            className="w-48"
            value={modelId ?? ''}
            onChange={({ target }) => setModelId(target.value === '' ? null : target.value)}
          >
            <option value="">All models</option>
            {last?.models.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </Select>
          <span role="status">
            {problem === null ? <Badge tone="good">live</Badge> : <Badge tone="warning">{problem}</Badge>}
          </span>
        </>
      }
    >
      {facts.isError && <FailureNotice error={facts.error} />}
      {last === undefined ? (
        <Notice>Waiting for the first sample…</Notice>
      ) : (
        <>
          <LoadCharts history={history} modelId={modelId} />
          <ModelTable history={history} />
          <RouteTable sample={last} />
        </>
      )}
      <KeyTable command={facts.data?.command} />
      {facts.data !== undefined && <Facts facts={facts.data} residentBytes={last?.residentBytes} />}
    </Page>
  );
}

const MODEL_COLUMNS = [
  'Model',
  'Running',
  'Waiting',
  'First token p50',
  'p95',
  'Gap p50',
  'p95',
  'Cache',
  'Hits',
  'Tokens',
];
const cell = 'px-3 py-1 text-right whitespace-nowrap first:text-left';
const seconds = (value: number | null) =>
  value === null ? '–' : value < 1 ? `${(value * 1000).toFixed(0)} ms` : `${value.toFixed(2)} s`;

function ModelTable({ history }: { readonly history: readonly LoadSample[] }) {
  const ends = windowOf(history);
  const last = history.at(-1);
  return (
    <Panel title="Models, last minute">
      <ScrollRegion label="Table of models">
        <table className="w-full text-sm">
          <TableHead names={MODEL_COLUMNS} cell={cell} />
          <tbody>
            {last?.models.map(model => {
              const before = ends?.from.models.find(({ id }) => id === model.id);
              const hits = hitShare(before, model);
              return (
                <tr key={model.id} className="border-t">
                  <th scope="row" className={`${cell} font-normal`}>
                    {model.id}
                  </th>
                  <td className={cell}>{model.runningCount}</td>
                  <td className={cell}>{model.waitingCount}</td>
                  <td className={cell}>{seconds(quantileOf(before?.firstToken, model.firstToken, 0.5))}</td>
                  <td className={cell}>{seconds(quantileOf(before?.firstToken, model.firstToken, 0.95))}</td>
                  <td className={cell}>{seconds(quantileOf(before?.tokenGap, model.tokenGap, 0.5))}</td>
                  <td className={cell}>{seconds(quantileOf(before?.tokenGap, model.tokenGap, 0.95))}</td>
                  <td className={cell}>{(model.cacheUsedShare * 100).toFixed(0)}%</td>
                  <td className={cell}>{hits === null ? '–' : `${(hits * 100).toFixed(0)}%`}</td>
                  <td className={cell}>{model.generatedTokenCount.toLocaleString()}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </ScrollRegion>
      <p className="px-3 py-1.5 text-xs text-muted">
        Times to the first token and between tokens are of requests that ended; tokens are counted since the
        start.
      </p>
    </Panel>
  );
}

function RouteTable({ sample }: { readonly sample: LoadSample }) {
  const routes = Map.groupBy(sample.routes, ({ method, route }) => `${method} ${route}`);
  const countOf = (counts: LoadSample['routes'], status: string) =>
    counts.filter(each => each.status === status).reduce((sum, { count }) => sum + count, 0);
  const statuses = ['2xx', '3xx', '4xx', '5xx'];
  return (
    <Panel title="Requests by route, since the start">
      <ScrollRegion label="Table of routes" className="max-h-72">
        <table className="w-full text-sm">
          <TableHead names={['Route', ...statuses]} cell={cell} />
          <tbody>
            {[...routes].map(([route, counts]) => (
              <tr key={route} className="border-t">
                <th scope="row" className={`${cell} font-mono text-xs font-normal`}>
                  {route}
                </th>
                {statuses.map(status => {
                  const count = countOf(counts, status);
                  const isError = count > 0 && (status === '4xx' || status === '5xx');
                  return (
                    <td key={status} className={`${cell} ${isError ? 'text-danger' : ''}`}>
                      {count === 0 ? '' : count.toLocaleString()}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Panel>
  );
}

function Facts({
  facts,
  residentBytes,
}: {
  readonly facts: ServerFacts;
  readonly residentBytes: number | undefined;
}) {
  return (
    <Panel title="Limits and version">
      <dl className="grid gap-x-6 gap-y-1 px-3 py-2 text-sm md:grid-cols-[auto_minmax(0,1fr)]">
        <Fact name="Version" value={facts.version} />
        <Fact name="Started" value={new Date(facts.startedAtMs).toLocaleString()} />
        <Fact
          name="Key"
          value={facts.team === null ? 'of no team: it sees all data' : `of the team ${facts.team}`}
        />
        <Fact name="Tool calling" value={facts.toolCalling ? 'on' : 'off'} />
        {residentBytes !== undefined && (
          <Fact name="Memory" value={`${formatBytes(residentBytes)}, without the models’ processes`} />
        )}
        {facts.limits.map(({ flag, value, description }) => (
          <Fact
            key={flag}
            name={<code>{flag}</code>}
            value={value === '' ? 'default' : value}
            hint={description}
          />
        ))}
      </dl>
      <p className="flex gap-4 border-t px-3 py-2 text-sm">
        <a className="py-1 text-accent underline" href={serverUrl('docs/')}>
          API documentation
        </a>
        <a className="py-1 text-accent underline" href={serverUrl('metrics')}>
          Metrics for Prometheus
        </a>
      </p>
    </Panel>
  );
}

function Fact({
  name,
  value,
  hint,
}: {
  readonly name: React.ReactNode;
  readonly value: string;
  readonly hint?: string;
}) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">
        {value}
        {hint !== undefined && <span className="ml-2 text-xs text-muted">{hint}</span>}
      </dd>
    </>
  );
}
