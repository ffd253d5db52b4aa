// How fast /health answers while the server scans feedback: the server as its users run it, one query after another, one
// probe after another. A probe counts only if a query was running when it returned.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { serverAddress } from '../server-address.ts';

const KEY = 'bench-key-0123456789abcdef';
const ROOT = resolve(import.meta.dirname, '../..');
const PAUSE_MS = 2;

export interface HealthProbe {
  /** Folder of the data; the databases of the environment hold too. */
  readonly dataDir: string;
  /** Body of the query that is asked over and over. */
  readonly body: object;
  readonly queryCount: number;
}

export async function probeHealth({ dataDir, body, queryCount }: HealthProbe) {
  const server = spawn(
    process.execPath,
    ['--conditions=source', 'apps/server/src/cli.ts', 'serve', '--port', '0'],
    {
      cwd: ROOT,
      env: { ...process.env, ORTLER_API_KEY: KEY, ORTLER_DATA_DIR: resolve(dataDir) },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    const url = await serverAddress(server.stdout);
    while (!(await fetch(`${url}/health`)).ok) await pause(50);
    const queryTimes: number[] = [];
    const asking = (async () => {
      for (let count = 0; count < queryCount; count++) {
        const start = performance.now();
        await ask(url, body);
        queryTimes.push(performance.now() - start);
      }
    })();
    const probes: number[] = [];
    while (queryTimes.length < queryCount) {
      const start = performance.now();
      await (await fetch(`${url}/health`)).arrayBuffer();
      if (queryTimes.length < queryCount) probes.push(performance.now() - start);
      await pause(PAUSE_MS);
    }
    await asking;
    const sorted = probes.toSorted((a, b) => a - b);
    const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))]! * 10) / 10;
    return { probeCount: probes.length, medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}

async function ask(url: string, body: object): Promise<void> {
  const response = await fetch(`${url}/feedback/query`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
}

function pause(ms: number): Promise<void> {
  return new Promise(done => setTimeout(done, ms));
}
