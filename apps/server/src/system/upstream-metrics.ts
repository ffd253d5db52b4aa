// Prometheus metrics of models that other servers answer for: their pools, read at scrape time. Servers are numbered in the order
// of the configuration, because metrics may be open to all and addresses are not. Caller: `metrics.ts`.

import type { ModelCatalog } from '@ortler/api';
import type { ServerState } from '@ortler/upstream';
import { Counter, Gauge, type Registry } from 'prom-client';

const LABELS = ['model_name', 'server'] as const;

/** Registers the metrics of every pool in the catalog. */
export function measureUpstreams(registry: Registry, catalog: ModelCatalog): void {
  const ofServers = (name: string, help: string, read: (server: ServerState) => number) => ({
    name,
    help,
    labelNames: LABELS,
    registers: [registry],
    collect(this: Gauge | Counter) {
      this.reset();
      for (const { id, status } of catalog.list())
        if (status.kind === 'upstream')
          for (const [index, server] of status.upstream.servers.entries())
            this.inc({ model_name: id, server: String(index) }, read(server));
    },
  });
  new Gauge(
    ofServers(
      'ortler:upstream_requests_open',
      'Requests that a server of a model is answering.',
      ({ openCount }) => openCount,
    ),
  );
  new Gauge(
    ofServers(
      'ortler:upstream_breaker_open',
      'Circuit breaker of a server: 0 takes requests, 0.5 tries one, 1 takes none.',
      ({ breaker }) => ({ closed: 0, half_open: 0.5, open: 1 })[breaker],
    ),
  );
  new Counter(
    ofServers(
      'ortler:upstream_requests_total',
      'Requests to a server, those that moved on to another included.',
      ({ requestCount }) => requestCount,
    ),
  );
  new Counter(
    ofServers(
      'ortler:upstream_failures_total',
      'Requests that failed by the fault of a server.',
      ({ failureCount }) => failureCount,
    ),
  );
}
