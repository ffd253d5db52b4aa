// The models that this key may use: what is loaded, what is loading and how far it is, and checkpoints to load.

import type { AppRouter } from '@ortler/api';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { inferRouterOutputs } from '@trpc/server';
import { Fragment } from 'react';
import { FailureNotice, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Badge } from '../components/ui/badge.tsx';
import { Button } from '../components/ui/button.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { useTRPC, useTRPCClient } from '../connection/api-client.ts';

type ModelFacts = inferRouterOutputs<AppRouter>['server']['facts']['models'][number];
type UpstreamFacts = NonNullable<ModelFacts['upstream']>;

const REFRESH_MS = 1_000;
const TONES = { ready: 'good', loading: 'plain', restarting: 'warning', failed: 'danger' } as const;
const BREAKERS = {
  closed: 'answers',
  trying: 'failed, is being tried',
  open: 'failed, is left alone',
} as const;

export function ModelsPage() {
  const trpc = useTRPC();
  const facts = useQuery(trpc.server.facts.queryOptions(undefined, { refetchInterval: REFRESH_MS }));
  const listed = useQuery(trpc.models.list.queryOptions());
  const models = facts.data?.models ?? [];
  const others = (listed.data?.data ?? []).filter(({ id }) => !models.some(model => model.id === id));
  return (
    <Page title="Models" className="flex flex-col gap-3 p-4">
      {facts.isError && <FailureNotice error={facts.error} />}
      {facts.isPending && <Notice>Loading…</Notice>}
      <div className="grid gap-3 lg:grid-cols-2">
        {models.map(model => (
          <ModelPanel key={model.id} model={model} />
        ))}
      </div>
      {others.length > 0 && (
        <Panel title="Checkpoints that are not loaded">
          <ul>
            {others.map(({ id, root }) => (
              <CheckpointRow key={id} id={id} root={root} />
            ))}
          </ul>
          <p className="border-t px-3 py-1.5 text-xs text-muted">
            A request loads its checkpoint. The server unloads those that are idle, or the least recently used
            when another needs the place.
          </p>
        </Panel>
      )}
    </Page>
  );
}

function ModelPanel({
  model: { id, kind, state, detail, engine, upstream },
}: {
  readonly model: ModelFacts;
}) {
  return (
    <Panel
      title={<span className="wrap-anywhere">{id}</span>}
      actions={
        <>
          {kind !== 'own' && <Badge>{kind}</Badge>}
          <Badge tone={TONES[state]}>{state}</Badge>
          <ChatLink model={id} />
        </>
      }
    >
      {detail !== '' && <LoadDetail detail={detail} />}
      {engine !== null && (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 px-3 py-2 text-sm">
          <dt className="text-muted">Architecture</dt>
          <dd>
            {engine.modelType}, {formatCount(engine.parameterCount)} parameters
          </dd>
          <dt className="text-muted">Weights, KV cache</dt>
          <dd>
            {engine.precision}, {engine.kvType}
          </dd>
          <dt className="text-muted">Device</dt>
          <dd>{engine.device}</dd>
          <dt className="text-muted">Context</dt>
          <dd>{engine.contextLength.toLocaleString()} tokens</dd>
          <dt className="text-muted">At once</dt>
          <dd>{engine.maxSequences} sequences</dd>
          {engine.restartCount > 0 && (
            <>
              <dt className="text-muted">Restarts</dt>
              <dd className="text-warning">{engine.restartCount}</dd>
            </>
          )}
        </dl>
      )}
      {upstream !== null && <UpstreamList upstream={upstream} />}
    </Panel>
  );
}

/** A pool of other servers, without their addresses. */
function UpstreamList({ upstream: { name, contextLength, servers } }: { readonly upstream: UpstreamFacts }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 px-3 py-2 text-sm">
      <dt className="text-muted">Name there</dt>
      <dd className="wrap-anywhere">{name}</dd>
      {contextLength !== null && (
        <>
          <dt className="text-muted">Context</dt>
          <dd>{contextLength.toLocaleString()} tokens</dd>
        </>
      )}
      {servers.map(({ breaker, openCount }, index) => (
        // The order of servers is that of the configuration, which stays.
        <Fragment key={index}>
          <dt className="text-muted">Server {index + 1}</dt>
          <dd className={breaker === 'closed' ? undefined : 'text-warning'}>
            {openCount} open requests, {BREAKERS[breaker]}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** Details of loading end with a percentage where the server knows one. */
function LoadDetail({ detail }: { readonly detail: string }) {
  const percent = /(\d+)\s*%/.exec(detail)?.[1];
  return (
    <div className="px-3 py-2 text-sm">
      <p className="wrap-anywhere">{detail}</p>
      {percent !== undefined && (
        <progress
          aria-label="Progress of loading"
          value={Number(percent)}
          max={100}
          className="h-1.5 w-full"
        />
      )}
    </div>
  );
}

function CheckpointRow({ id, root }: { readonly id: string; readonly root: string }) {
  const client = useTRPCClient();
  const queries = useQueryClient();
  const trpc = useTRPC();
  // Any request loads it; this one is the cheapest.
  const load = useMutation({
    mutationFn: () => client.tokenizer.encode.query({ model: id, prompt: '.' }),
    onSettled: () => queries.invalidateQueries(trpc.server.facts.queryFilter()),
  });
  return (
    <li className="flex flex-wrap items-center gap-2 border-t px-3 py-1.5 text-sm first:border-t-0">
      <span className="min-w-0 flex-1 wrap-anywhere">
        {id} <span className="text-muted">{root !== id && `on ${root}`}</span>
      </span>
      {load.isError && <FailureNotice error={load.error} className="p-0" />}
      <Button size="sm" disabled={load.isPending} onClick={() => load.mutate()}>
        {load.isPending ? 'Loading…' : 'Load'}
      </Button>
      <ChatLink model={id} />
    </li>
  );
}

function ChatLink({ model }: { readonly model: string }) {
  return (
    <Link to="/" search={{ model }} className="rounded-md px-2 py-1 text-xs text-accent hover:bg-hover">
      Chat<span className="sr-only"> with {model}</span>
    </Link>
  );
}

function formatCount(count: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}
