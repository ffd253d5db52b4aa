// What rate limits, usage accounting and traces cost: two servers, one with all three (or some, `--parts`) and one with none, take turns with the same
// chats of several clients at once. Prints throughput and CPU time per request of both, and the median ratio of neighbouring turns. Fails
// unless both give the same answers, every request was counted, and its spans arrived. The goal is less than 2 %.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { childrenOf, processorMs } from '../process-usage.ts';
import { rounded } from '../rounded.ts';
import { type StartedServer, startServer } from '../start-server.ts';
import { createTeamKey } from './team-key.ts';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '16' },
    tokens: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '3' },
    turns: { type: 'string', default: '10' },
    parts: { type: 'string', default: 'limits,usage,traces' },
    help: { type: 'boolean', default: false },
  },
});

const PROMPT_COUNT = 32;
/** All six, so high that none is reached. */
const LIMITS = Object.fromEntries(
  ['key', 'team'].flatMap(who => [
    [`${who}-requests-per-minute`, 10_000_000],
    [`${who}-tokens-per-minute`, 1_000_000_000],
    [`${who}-concurrency`, 100_000],
  ]),
);

interface Contestant {
  readonly server: StartedServer;
  readonly apiKey: string;
  readonly pids: readonly number[];
  /** Text of each prompt. */
  readonly answers: Map<number, string>;
  readonly turns: { readonly perSecond: number; readonly cpuMs: number }[];
  sentCount: number;
}

if (values.help)
  console.log(
    'npm run bench -- overhead [--streams 16] [--tokens 64] [--seconds 3, of a turn] [--turns 10] [--parts limits,usage,traces]',
  );
else console.log(JSON.stringify({ bench: 'overhead', ...(await measure()), ...describeMachine() }, null, 2));

function has(part: 'limits' | 'usage' | 'traces'): boolean {
  return values.parts.split(',').includes(part);
}

async function measure() {
  const collector = await startCollector();
  const withoutUsage = ['--import', new URL('./without-usage.ts', import.meta.url).href];
  const off = await start({}, withoutUsage);
  const flags = {
    ...(has('limits') && LIMITS),
    ...(has('traces') && { 'otlp-traces-endpoint': collector.url }),
  };
  const on = await start(flags, has('usage') ? [] : withoutUsage);
  try {
    await compare(off, on);
  } finally {
    await off.server.stop();
    // It sends its last spans.
    await on.server.stop();
    collector.close();
  }
  if (collector.spanCount() !== (has('traces') ? on.sentCount : 0))
    throw new Error(`${on.sentCount} requests, ${collector.spanCount()} spans of requests.`);
  const ratio = (name: 'perSecond' | 'cpuMs') =>
    rounded(median(on.turns.map((turn, index) => turn[name] / off.turns[index]![name])));
  return {
    parts: values.parts,
    requestCount: { off: off.sentCount, on: on.sentCount },
    requestsPerSecond: { off: middle(off, 'perSecond'), on: middle(on, 'perSecond') },
    cpuMsPerRequest: { off: middle(off, 'cpuMs'), on: middle(on, 'cpuMs') },
    throughputRatio: ratio('perSecond'),
    cpuRatio: ratio('cpuMs'),
    ratiosOfTurns: on.turns.map(({ perSecond, cpuMs }, index) => ({
      throughput: rounded(perSecond / off.turns[index]!.perSecond),
      cpu: rounded(cpuMs / off.turns[index]!.cpuMs),
    })),
  };
}

/** Mutates: the contestants. Throws: where their answers or their counts are not as they should be. */
async function compare(off: Contestant, on: Contestant): Promise<void> {
  // The first turns only warm up.
  for (const each of [off, on]) await runTurn(each);
  for (const each of [off, on]) each.turns.length = 0;
  for (let turn = 0; turn < Number(values.turns); turn++)
    // Each is first as often as the other.
    for (const each of turn % 2 === 0 ? [off, on] : [on, off]) await runTurn(each);
  for (const [prompt, answer] of off.answers)
    if (on.answers.get(prompt) !== answer) throw new Error(`The answers to prompt ${prompt} differ.`);
  const counted = await countedRequests(on);
  if (counted !== (has('usage') ? on.sentCount : 0))
    throw new Error(`${on.sentCount} requests, of which ${counted} are counted.`);
  if ((await countedRequests(off)) !== 0) throw new Error('The server without usage counts.');
}

async function start(
  flags: Readonly<Record<string, string | number>>,
  nodeArguments: readonly string[],
): Promise<Contestant> {
  const server = await startServer({ flags: { 'log-level': 'error', ...flags }, nodeArguments });
  const apiKey = await createTeamKey(server.dataDir, server.url, 'acme');
  const pids = [server.pid, ...childrenOf(server.pid)];
  return { server, apiKey, pids, answers: new Map(), turns: [], sentCount: 0 };
}

/** All clients for the seconds of a turn. Mutates: the contestant. */
async function runTurn(contestant: Contestant): Promise<void> {
  const { pids, turns } = contestant;
  const cpuMs = () => pids.reduce((sum, pid) => sum + processorMs(pid), 0);
  const [startMs, startCpuMs, before] = [performance.now(), cpuMs(), contestant.sentCount];
  const endMs = startMs + Number(values.seconds) * 1_000;
  await Promise.all(
    Array.from({ length: Number(values.streams) }, async () => {
      while (performance.now() < endMs) await ask(contestant, contestant.sentCount++ % PROMPT_COUNT);
    }),
  );
  const count = contestant.sentCount - before;
  turns.push({
    perSecond: (count * 1_000) / (performance.now() - startMs),
    cpuMs: (cpuMs() - startCpuMs) / count,
  });
}

async function ask({ server, apiKey, answers }: Contestant, prompt: number): Promise<void> {
  const reply = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      messages: [{ role: 'user', content: `Tell me about number ${prompt}.` }],
      max_tokens: Number(values.tokens),
      temperature: 0,
      ignore_eos: true,
    }),
  });
  if (reply.status !== 200) throw new Error(`${reply.status}: ${await reply.text()}`);
  const { choices } = (await reply.json()) as { choices: [{ message: { content: string } }] };
  const answer = choices[0].message.content;
  if ((answers.get(prompt) ?? answer) !== answer) throw new Error(`Two answers to prompt ${prompt}.`);
  answers.set(prompt, answer);
}

async function countedRequests({ server, apiKey }: Contestant): Promise<number> {
  const start = Math.floor(Date.now() / 1_000) - 86_400;
  const reply = await fetch(`${server.url}/v1/organization/usage/completions?start_time=${start}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const { data } = (await reply.json()) as { data: { results: { num_model_requests: number }[] }[] };
  return data.flatMap(({ results }) => results).reduce((sum, each) => sum + each.num_model_requests, 0);
}

function middle({ turns }: Contestant, name: 'perSecond' | 'cpuMs'): number {
  return rounded(median(turns.map(turn => turn[name])));
}

/** Takes spans, and counts those of requests. */
async function startCollector() {
  let spanCount = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', part => parts.push(part as Buffer));
    request.once('end', () => {
      // Without parsing them: the clients share this process.
      spanCount += Buffer.concat(parts).toString('latin1').split('POST /v1/chat/completions').length - 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spanCount: () => spanCount,
    close: () => server.close(),
  };
}
