// How fast /health answers while the server scans feedback: the server as its users run it, one query after another, one
// probe after another. A probe counts only if a query was running when it returned.

import { quantile } from '../quantile.ts';
import { rounded } from '../rounded.ts';
import { API_KEY, startServer } from '../start-server.ts';

const PAUSE_MS = 2;

export interface HealthProbe {
  /** Folder of the data; the databases of the environment hold too. */
  readonly dataDir: string;
  /** Body of the query that is asked over and over. */
  readonly body: object;
  readonly queryCount: number;
}

export async function probeHealth({ dataDir, body, queryCount }: HealthProbe) {
  const { url, stop } = await startServer({ dataDir });
  try {
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
    const at = (share: number) => rounded(quantile(probes, share));
    return { probeCount: probes.length, medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  } finally {
    await stop();
  }
}

async function ask(url: string, body: object): Promise<void> {
  const response = await fetch(`${url}/feedback/query`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${API_KEY}`).toString('base64')}`,
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
