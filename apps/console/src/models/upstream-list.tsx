// The servers that answer for a model of others, without their addresses.

import type { AppRouter } from '@ortler/api';
import type { inferRouterOutputs } from '@trpc/server';
import { Fragment } from 'react';

type ModelFacts = inferRouterOutputs<AppRouter>['server']['facts']['models'][number];
type UpstreamFacts = NonNullable<ModelFacts['upstream']>;

const BREAKERS = {
  closed: 'answers',
  half_open: 'failed, being retried',
  open: 'failed, skipped for now',
} as const;

export function UpstreamList({
  upstream: { name, contextLength, servers },
}: {
  readonly upstream: UpstreamFacts;
}) {
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
