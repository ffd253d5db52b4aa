// /metrics on a port of its own, for networks where only the monitoring may reach it.

import { createServer } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Metrics } from './metrics.ts';
import { isMetricsKey } from './metrics-key.ts';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Absent: no key is needed. */
  readonly key?: string | undefined;
}

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens. Throws: when it cannot. */
export async function startMetricsServer(
  metrics: Metrics,
  { host, port, key }: MetricsServerOptions,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    const fail = (status: number, headers: Record<string, string> = {}) =>
      response.writeHead(status, { ...headers, 'content-length': 0 }).end();
    if (path !== '/metrics' && path !== '/metrics/') return fail(404);
    if (request.method !== 'GET' && request.method !== 'HEAD') return fail(405, { allow: 'GET' });
    if (key !== undefined && !isMetricsKey(request.headers.authorization, key))
      return fail(401, { 'www-authenticate': 'Bearer' });
    return metrics.render().then(
      text => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => fail(500),
    );
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(port, host, listening.resolve);
  await listening.promise;
  const address = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(address.address) ? `[${address.address}]` : address.address}:${address.port}/metrics`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
