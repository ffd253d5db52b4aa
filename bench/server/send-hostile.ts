// The attacker of `hostile-constraints`: a thread of its own, so that writing its bodies delays nobody who measures.

import { parentPort, workerData } from 'node:worker_threads';

export interface HostileRequest {
  readonly name: string;
  readonly status: number;
  readonly body: string;
}

export interface AttackData {
  readonly url: string;
  readonly apiKey: string;
  readonly requests: readonly HostileRequest[];
  /** Between two of them. */
  readonly pauseMs: number;
}

/** How long each request took, by its name. Unit: milliseconds. */
export type AttackResult = Readonly<Record<string, number[]>>;

const { url, apiKey, requests, pauseMs } = workerData as AttackData;
const took: Record<string, number[]> = {};
let isOpen = true;
parentPort!.once('message', () => {
  isOpen = false;
});
while (isOpen) {
  for (const { name, status, body } of requests) {
    if (!isOpen) break;
    const startMs = performance.now();
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body,
    });
    await response.arrayBuffer();
    if (response.status !== status) throw new Error(`${name}: ${response.status} instead of ${status}.`);
    took[name] ??= [];
    took[name].push(performance.now() - startMs);
    if (pauseMs > 0) await new Promise(done => setTimeout(done, pauseMs));
  }
}
parentPort!.postMessage(took satisfies AttackResult);
