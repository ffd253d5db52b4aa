// What a plain stream feels of hostile schemas, patterns and grammars that others send at the same time: the time from
// chunk to chunk alone and beside them, in turns. Each hostile request must be refused, or served where it is harmless.

import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { startServer } from './start-server.ts';

const KEY = 'bench-key-0123456789abcdef';
const PATH = '/v1/chat/completions';

const nested = (depth: number): object => (depth === 0 ? {} : { items: nested(depth - 1) });
const rules = Array.from({ length: 20_000 }, (_, i) => `r${i} ::= r${i + 1}`).join('\n');
const HOSTILE: Readonly<Record<string, { readonly status: number; readonly outputs: object }>> = {
  'enum of 100,000 values': {
    status: 400,
    outputs: { json: { enum: Array.from({ length: 100_000 }, (_, i) => `v${i}`) } },
  },
  'depth of 127': { status: 400, outputs: { json: nested(127) } },
  'repetitions in repetitions': { status: 400, outputs: { regex: '(?:a{1,999}){1,999}' } },
  'a pattern of 32 kB': { status: 400, outputs: { regex: 'a?'.repeat(2 ** 14) } },
  '20,000 rules': { status: 400, outputs: { grammar: `root ::= r0\n${rules}\nr20000 ::= "a"` } },
  'a reference to itself': { status: 400, outputs: { json: { $ref: '#' } } },
  'a schema of 1 MB': { status: 400, outputs: { json: { description: 'x'.repeat(2 ** 20) } } },
  'nested stars': { status: 200, outputs: { regex: '((a+)+)+b' } },
  'a wait behind any text': { status: 200, outputs: { regex: '(.*a.{20})c' } },
  '5,000 values': {
    status: 200,
    outputs: { json: { enum: Array.from({ length: 5_000 }, (_, i) => `v${i}`) } },
  },
};

const { values } = parseArgs({
  options: {
    tokens: { type: 'string', default: '600' },
    pairs: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log('npm run bench -- hostile-constraints [--tokens 600] [--pairs 3]');
} else {
  console.log(JSON.stringify(await measure(Number(values.tokens), Number(values.pairs)), null, 2));
}

async function measure(tokenCount: number, pairCount: number) {
  const { url, stop } = await startServer(KEY);
  try {
    const took: Record<string, number[]> = {};
    // Grammar engine and worker start with the first constraint; that is not what is measured.
    await send(url, { structured_outputs: { regex: 'ready' }, max_tokens: 5 });
    const gaps: { readonly alone: number[]; readonly beside: number[] } = { alone: [], beside: [] };
    for (let pair = 0; pair < pairCount; pair++) {
      gaps.alone.push(...(await streamGaps(url, tokenCount)));
      let isOpen = true;
      const attack = (async () => {
        while (isOpen)
          for (const [name, { status, outputs }] of Object.entries(HOSTILE)) {
            if (!isOpen) break;
            const startMs = performance.now();
            const got = await send(url, { structured_outputs: outputs, max_tokens: 8 });
            if (got !== status) throw new Error(`${name}: ${got} instead of ${status}.`);
            took[name] ??= [];
            took[name].push(performance.now() - startMs);
          }
      })();
      gaps.beside.push(...(await streamGaps(url, tokenCount)));
      isOpen = false;
      await attack;
    }
    const [alone, beside] = [summary(gaps.alone), summary(gaps.beside)];
    return {
      bench: 'hostile-constraints',
      tokenCount,
      pairCount,
      alone,
      beside,
      p99Factor: round(beside.p99Ms / alone.p99Ms),
      requests: Object.fromEntries(Object.entries(took).map(([name, times]) => [name, summary(times)])),
      machine: describeMachine(),
    };
  } finally {
    await stop();
  }
}

async function send(url: string, fields: object): Promise<number> {
  const response = await post(url, fields);
  await response.arrayBuffer();
  return response.status;
}

function post(url: string, fields: object): Promise<Response> {
  return fetch(url + PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Tell me about Ortler.' }], ...fields }),
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
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.floor(share * (sorted.length - 1))]!);
  return { count: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

function round(value: number): number {
  return Number(value.toFixed(2));
}
