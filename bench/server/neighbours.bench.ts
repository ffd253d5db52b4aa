// What another team notices of an attack: latency of its chat, of /v1/models and of /health alone and beside each attack, one
// call after the other, in turns. The goal is a p99 of at most twice the quiet one. In reality all clients are on machines of their own. So
// the attackers are a process with the lowest CPU priority (nice 19), and the client that measures has a high one (nice -15) where the
// system allows it: it would wait for a core itself and count that as latency. The server and its model have the normal priority.
// `server` is what the attack costs there: CPU time of its process per second, and the longest delay of its event loop.
// Each attack begins with a while whose latencies are not counted (its requests are, in `sentCount`), in which V8 compiles what it runs: a
// server has seen such requests before.
// `--busy 1,2` measures the same beside so many programs that only compute, with the priority of the server's query threads, and no
// attack: the latency that busy cores alone cause.
// `bare` is a process beside the server that answers a constant: the least that the cores and the system leave to any server.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { quantile } from '../quantile.ts';
import { rounded } from '../rounded.ts';
import { API_KEY, type StartedServer, startServer } from '../start-server.ts';
import { ATTACKS, prepareAttack, startAttack } from './attacks.ts';
import { startBareServer } from './bare-server.ts';
import { createTeamKey } from './team-key.ts';

const { values } = parseArgs({
  options: {
    attacks: { type: 'string', default: Object.keys(ATTACKS).join() },
    busy: { type: 'string', default: '' },
    seconds: { type: 'string', default: '6' },
    turns: { type: 'string', default: '2' },
    'warm-up': { type: 'string', default: '4' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** The priority of the client that measures. */
const CLIENT_NICE = -15;
/** The priority that it had: its own where the system allows no higher one. */
let clientNice = getPriority();

if (values.help) {
  console.log(
    'npm run bench -- neighbours [--attacks H1,H2] [--busy 1,2] [--seconds 6, of each turn] [--turns 2] [--warm-up 4, seconds] [--profile FOLDER, for CPU profiles of the server]',
  );
} else {
  console.log(JSON.stringify(await measure(), null, 2));
}

type Times = Record<'chat' | 'models' | 'health' | 'bare', number[]>;

function newTimes(): Times {
  return { chat: [], models: [], health: [], bare: [] };
}

interface WatchedServers {
  /** Address of the server. */
  readonly url: string;
  readonly bareUrl: string;
}

async function measure() {
  const results: Record<string, unknown> = {};
  for (const id of values.attacks.split(',').filter(Boolean)) results[id] = await measureAttack(id);
  for (const count of values.busy.split(',').filter(Boolean))
    results[`busy programs: ${count}`] = await measureBusy(Number(count));
  return { bench: 'neighbours', ...results, clientNice, machine: describeMachine() };
}

/** `work` with a high priority where the system allows it. Processes inherit a priority, so none may be started in it. */
async function withPriority(work: () => Promise<void>): Promise<void> {
  const ownNice = getPriority();
  try {
    setPriority(CLIENT_NICE);
  } catch {
    // Not allowed: it measures with its own.
  }
  clientNice = getPriority();
  try {
    await work();
  } finally {
    setPriority(ownNice);
  }
}

async function measureAttack(id: string) {
  const attack = ATTACKS[id]!;
  return withServer(id, async (server, apiKey, bareUrl) => {
    const target = { url: server.url, apiKey, project: 'acme/app', baseModel: 'ortler-demo' };
    // A variant of an attack is about the rows of the first one.
    await prepareAttack(ATTACKS[id.replace(/b$/, '')]!, target);
    let sentCount = 0;
    const statuses: Record<string, number> = {};
    const measured = await compare({ url: server.url, bareUrl }, async () => {
      const running = startAttack(id, target);
      await running.open;
      return async () => {
        const result = await running.stop();
        sentCount += result.sentCount;
        for (const [status, count] of Object.entries(result.statuses))
          statuses[status] = (statuses[status] ?? 0) + count;
      };
    });
    return { title: attack.title, sentCount, statuses, ...measured, peakMiB: peakMemory(server.pid) };
  });
}

/** Programs that only compute. */
function measureBusy(count: number) {
  return withServer('busy', (server, _apiKey, bareUrl) =>
    compare({ url: server.url, bareUrl }, async () => {
      const programs = Array.from({ length: count }, () =>
        spawn('nice', ['-n', '10', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' }),
      );
      return async () => {
        for (const program of programs) program.kill('SIGKILL');
      };
    }),
  );
}

async function withServer<Result>(
  id: string,
  work: (server: StartedServer, apiKey: string, bareUrl: string) => Promise<Result>,
): Promise<Result> {
  const server = await startServer({
    flags: { 'log-level': 'error' },
    nodeArguments:
      values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}/${id}`],
  });
  const bare = await startBareServer();
  try {
    return await work(server, await createTeamKey(server.dataDir, server.url, 'acme'), bare.url);
  } finally {
    bare.stop();
    await server.stop();
  }
}

/** Latencies alone and beside a load, in turns. `start` begins the load and gives the function that ends it. */
async function compare(servers: WatchedServers, start: () => Promise<() => Promise<void>>) {
  const [quiet, beside] = [newTimes(), newTimes()];
  const serverLoads: ServerLoad[] = [];
  await watch(servers, newTimes(), 1);
  const endWarmUp = await start();
  await watch(servers, newTimes(), Number(values['warm-up']));
  await endWarmUp();
  await settle(servers);
  for (let turn = 0; turn < Number(values.turns); turn++) {
    await withPriority(() => watch(servers, quiet, Number(values.seconds)));
    const end = await start();
    const load = await watchServer(servers.url);
    await withPriority(() => watch(servers, beside, Number(values.seconds)));
    serverLoads.push(await load());
    await end();
    await settle(servers);
  }
  const routes = Object.fromEntries(
    (Object.keys(quiet) as (keyof Times)[]).map(name => {
      const [before, during] = [summary(quiet[name]), summary(beside[name])];
      return [name, { quiet: before, beside: during, p99Factor: rounded(during.p99Ms / before.p99Ms) }];
    }),
  );
  const server = {
    cpuShare: rounded(Math.max(...serverLoads.map(({ cpuShare }) => cpuShare))),
    longestDelayMs: rounded(Math.max(...serverLoads.map(({ longestDelayMs }) => longestDelayMs))),
  };
  return { ...routes, server };
}

/** Calls one route after the other, as an attentive client does. */
async function watch({ url, bareUrl }: WatchedServers, times: Times, seconds: number): Promise<void> {
  const endMs = performance.now() + seconds * 1_000;
  while (performance.now() < endMs) {
    const body = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 4, ignore_eos: true };
    for (const [name, address, posted] of [
      ['bare', bareUrl, undefined],
      ['health', `${url}/health`, undefined],
      ['models', `${url}/v1/models`, undefined],
      ['chat', `${url}/v1/chat/completions`, body],
    ] as const) {
      const startMs = performance.now();
      const reply = await fetch(address, {
        method: posted === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: posted === undefined ? null : JSON.stringify(posted),
      });
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`${address} said ${reply.status}.`);
      times[name].push(performance.now() - startMs);
    }
  }
}

interface ServerLoad {
  /** CPU time of the server's process, without models, by the time that passed. */
  readonly cpuShare: number;
  /** Of the event loop; it is looked at every 10 ms, so this is the least. */
  readonly longestDelayMs: number;
}

/** Begins a period of the server's own metrics. The function that is returned ends it. */
async function watchServer(url: string): Promise<() => Promise<ServerLoad>> {
  const read = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)![1]);
    return {
      atMs: performance.now(),
      cpuSeconds: gauge('process_cpu_seconds_total'),
      delaySeconds: gauge('nodejs_eventloop_lag_max_seconds'),
    };
  };
  const before = await read();
  return async () => {
    const after = await read();
    return {
      cpuShare: ((after.cpuSeconds - before.cpuSeconds) * 1_000) / (after.atMs - before.atMs),
      longestDelayMs: after.delaySeconds * 1_000,
    };
  };
}

/** Waits until what the attack left behind is done. */
async function settle(servers: WatchedServers): Promise<void> {
  await watch(servers, newTimes(), 2);
}

/** Largest resident memory of the server's process. Unit: MiB. */
function peakMemory(pid: number): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
}

function summary(times: readonly number[]) {
  const at = (share: number) => rounded(quantile(times, share));
  return { count: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
