// Latency of a plain stream beside hostile schemas, patterns and grammars that others send one after the other: the time
// from chunk to chunk alone, beside those that are refused, and beside those that are served because they are harmless.

import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { describeMachine } from '../describe-machine.ts';
import { quantile } from '../quantile.ts';
import { rounded } from '../rounded.ts';
import { API_KEY, startServer } from '../start-server.ts';
import type { AttackData, AttackResult, HostileRequest } from './send-hostile.ts';

const PATH = '/v1/chat/completions';

const nested = (depth: number): object => (depth === 0 ? {} : { items: nested(depth - 1) });
const names = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`);
const rules = Array.from({ length: 20_000 }, (_, i) => `r${i} ::= r${i + 1}`).join('\n');

const REFUSED: Readonly<Record<string, object>> = {
  'enum of 100,000 values': { json: { enum: names(100_000) } },
  'depth of 127': { json: nested(127) },
  'repetitions in repetitions': { regex: '(?:a{1,999}){1,999}' },
  'a pattern of 32 kB': { regex: 'a?'.repeat(2 ** 14) },
  '20,000 rules': { grammar: `root ::= r0\n${rules}\nr20000 ::= "a"` },
  'a reference to itself': { json: { $ref: '#' } },
  'a schema of 1 MB': { json: { description: 'x'.repeat(2 ** 20) } },
};
const SERVED: Readonly<Record<string, object>> = {
  'ten waits in a row': { regex: '.*.*.*.*.*.*.*.*.*.*x' },
  'a wait behind any text': { regex: '(.*a.{20})c' },
  'enum of 5,000 values': { json: { enum: names(5_000) } },
};
const PLAIN: Readonly<Record<string, object | null>> = { 'no constraint': null };

const { values } = parseArgs({
  options: {
    tokens: { type: 'string', default: '600' },
    pairs: { type: 'string', default: '3' },
    'pause-ms': { type: 'string', default: '100' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(
    'npm run bench -- hostile-constraints [--tokens 600] [--pairs 3] [--pause-ms 100, between hostile requests]',
  );
} else {
  console.log(
    JSON.stringify(
      await measure(Number(values.tokens), Number(values.pairs), Number(values['pause-ms'])),
      null,
      2,
    ),
  );
}

async function measure(tokenCount: number, pairCount: number, pauseMs: number) {
  const { url, stop } = await startServer();
  try {
    // Grammar engine and worker start with the first constraint; that is not what is measured.
    await (await post(url, { structured_outputs: { regex: 'ready' }, max_tokens: 5 })).arrayBuffer();
    const alone: number[] = [];
    const phases = [
      { name: 'besideRefused', requests: toRequests(REFUSED, 400) },
      { name: 'besidePlain', requests: toRequests(PLAIN, 200) },
      { name: 'besideServed', requests: toRequests(SERVED, 200) },
    ].map(phase => ({ ...phase, gaps: [] as number[], took: {} as Record<string, number[]> }));
    for (let pair = 0; pair < pairCount; pair++) {
      alone.push(...(await streamGaps(url, tokenCount)));
      for (const { requests, gaps, took } of phases) {
        const end = attack({ url: url + PATH, apiKey: API_KEY, requests, pauseMs });
        gaps.push(...(await streamGaps(url, tokenCount)));
        for (const [name, times] of Object.entries(await end()))
          took[name] = [...(took[name] ?? []), ...times];
      }
    }
    const before = summary(alone);
    return {
      bench: 'hostile-constraints',
      tokenCount,
      pairCount,
      pauseMs,
      alone: before,
      ...Object.fromEntries(
        phases.map(({ name, gaps, took }) => {
          const beside = summary(gaps);
          const requests = Object.fromEntries(
            Object.entries(took).map(([of, times]) => [of, summary(times)]),
          );
          return [name, { ...beside, p99Factor: rounded(beside.p99Ms / before.p99Ms), requests }];
        }),
      ),
      machine: describeMachine(),
    };
  } finally {
    await stop();
  }
}

function toRequests(
  outputs: Readonly<Record<string, object | null>>,
  status: number,
): readonly HostileRequest[] {
  return Object.entries(outputs).map(([name, structuredOutputs]) => ({
    name,
    status,
    body: toBody({
      max_tokens: 8,
      ...(structuredOutputs !== null && { structured_outputs: structuredOutputs }),
    }),
  }));
}

/** Starts sending; what it returns ends that and tells how long each took. */
function attack(data: AttackData): () => Promise<AttackResult> {
  const worker = new Worker(new URL('./send-hostile.ts', import.meta.url), { workerData: data });
  const result = once(worker, 'message');
  return async () => {
    worker.postMessage('stop');
    return (await result)[0];
  };
}

function toBody(fields: object): string {
  return JSON.stringify({ messages: [{ role: 'user', content: 'Tell me about Ortler.' }], ...fields });
}

function post(url: string, fields: object): Promise<Response> {
  return fetch(url + PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: toBody(fields),
  });
}

/** Milliseconds between two chunks of one stream, the wait for the first one left out. */
async function streamGaps(url: string, tokenCount: number): Promise<number[]> {
  const fields = { stream: true, max_tokens: tokenCount, ignore_eos: true, temperature: 1, seed: 1 };
  const response = await post(url, fields);
  if (!response.ok || response.body === null) throw new Error(`The stream said ${response.status}.`);
  const gaps: number[] = [];
  let last: number | null = null;
  for await (const _ of response.body) {
    const now = performance.now();
    if (last !== null) gaps.push(now - last);
    last = now;
  }
  return gaps;
}

function summary(times: readonly number[]) {
  const at = (share: number) => rounded(quantile(times, share));
  return { count: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
