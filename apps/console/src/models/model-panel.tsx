// One model: what it is, what memory it takes, and how far it is while it loads.

import type { AppRouter } from '@ortler/api';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { inferRouterOutputs } from '@trpc/server';
import type { ReactNode } from 'react';
import { formatBytes } from '../components/format-bytes.ts';
import { FailureNotice } from '../components/notice.tsx';
import { Badge } from '../components/ui/badge.tsx';
import { Button } from '../components/ui/button.tsx';
import { Panel } from '../components/ui/panel.tsx';
import { useTRPC, useTRPCClient } from '../connection/api-client.ts';
import { UpstreamList } from './upstream-list.tsx';

type ModelFacts = inferRouterOutputs<AppRouter>['server']['facts']['models'][number];

const TONES = { ready: 'good', loading: 'plain', restarting: 'warning', failed: 'danger' } as const;

export function ModelPanel({ model }: { readonly model: ModelFacts }) {
  const { id, kind, state, detail, engine, upstream } = model;
  const isCheckpoint = kind === 'checkpoint';
  const unload = useLoading('unload', id);
  return (
    <Panel
      title={<span className="wrap-anywhere">{id}</span>}
      actions={
        <>
          {kind !== 'own' && <Badge>{kind}</Badge>}
          <Badge tone={TONES[state]}>{state}</Badge>
          {isCheckpoint && (
            <Button
              size="sm"
              disabled={unload.isPending}
              title="It leaves memory once its open requests have ended. The next request loads it again."
              onClick={() => unload.mutate()}
            >
              {state === 'loading' ? 'Stop loading' : 'Unload'}
              <span className="sr-only"> {id}</span>
            </Button>
          )}
          <ChatLink model={id} />
        </>
      }
    >
      {unload.isError && <FailureNotice error={unload.error} />}
      {detail !== '' && <LoadDetail detail={detail} />}
      {engine !== null && (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 px-3 py-2 text-sm">
          <Fact name="Architecture">
            {engine.modelType}, {formatCount(engine.parameterCount)} parameters
          </Fact>
          <Fact name="Weights, KV cache">
            {engine.precision}, {engine.kvType}
          </Fact>
          <Fact name="Memory">
            {formatBytes(engine.weightBytes)} of weights, up to {formatBytes(engine.cacheBytes)} of KV cache
          </Fact>
          <Fact name="Device">{engine.device}</Fact>
          <Fact name="Context">{engine.contextLength.toLocaleString()} tokens</Fact>
          <Fact name="At once">{engine.maxSequences} sequences</Fact>
          {engine.restartCount > 0 && (
            <Fact name="Restarts">
              <span className="text-warning">{engine.restartCount}</span>
            </Fact>
          )}
        </dl>
      )}
      {upstream !== null && <UpstreamList upstream={upstream} />}
    </Panel>
  );
}

/** A checkpoint that is not in memory. */
export function CheckpointRow({ id, root }: { readonly id: string; readonly root: string }) {
  const load = useLoading('load', id);
  return (
    <li className="flex flex-wrap items-center gap-2 border-t px-3 py-1.5 text-sm first:border-t-0">
      <span className="min-w-0 flex-1 wrap-anywhere">
        {id} <span className="text-muted">{root !== id && `on ${root}`}</span>
      </span>
      {load.isError && <FailureNotice error={load.error} className="p-0" />}
      <Button size="sm" disabled={load.isPending} onClick={() => load.mutate()}>
        {load.isPending ? 'Loading…' : 'Load'}
        <span className="sr-only"> {id}</span>
      </Button>
      <ChatLink model={id} />
    </li>
  );
}

/** Loads or unloads a checkpoint, and then reads anew what is in memory. */
function useLoading(action: 'load' | 'unload', model: string) {
  const client = useTRPCClient();
  const queries = useQueryClient();
  const trpc = useTRPC();
  return useMutation({
    mutationFn: () => client.models[action].mutate({ model }),
    onSettled: () => queries.invalidateQueries(trpc.server.facts.queryFilter()),
  });
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd>{children}</dd>
    </>
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
