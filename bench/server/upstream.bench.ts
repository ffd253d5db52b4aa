// What it costs to put a server before another one, and what its affinity by prefix keeps of the other's cache. Both ways take turns
// with the same requests. The model of the repository is so small that the server's own work shows; `--shape` takes one of a usual
// size, and `--own-core` gives the servers behind a core of their own.

import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { peerModel, SHAPE_NAMES } from '../peers/peer-models.ts';
import { processorMs } from '../process-usage.ts';
import { rounded } from '../rounded.ts';
import { API_KEY, type StartedServer, startServer } from '../start-server.ts';

const HELP = `Options:
  --requests N        chats of one token, one after the other (default 200)
  --streams N         streams at once (default 16)
  --tokens N          tokens of each stream (default 256)
  --turns N           turns of the streams (default 7)
  --shape NAME        ${SHAPE_NAMES.join(', ')} with random weights in 4 bits (default: the model of the repository)
  --own-core          the upstream servers with their model on core 0, the server before them and the client on core 1
  --conversations N   conversations of five turns over two servers, eight at once (default 200)`;

const CONVERSATION_TURNS = 5;
const AT_ONCE = 8;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200' },
    streams: { type: 'string', default: '16' },
    tokens: { type: 'string', default: '256' },
    turns: { type: 'string', default: '7' },
    shape: { type: 'string' },
    'own-core': { type: 'boolean', default: false },
    conversations: { type: 'string', default: '200' },
    help: { type: 'boolean', default: false },
  },
});

const SHAPE = SHAPE_NAMES.find(name => name === values.shape);
const MODEL = SHAPE ?? 'ortler-demo';

interface Message {
  readonly role: string;
  readonly content: string;
}

if (values.help) console.log(HELP);
else console.log(JSON.stringify({ bench: 'upstream', ...(await measure()), ...describeMachine() }, null, 2));

async function measure() {
  if (values.shape !== undefined && SHAPE === undefined)
    throw new Error(`--shape is one of ${SHAPE_NAMES.join(', ')}; got "${values.shape}".`);
  const flags = {
    'max-sequences': 16,
    ...(SHAPE !== undefined && { models: `${MODEL}=${await peerModel(SHAPE, 'q4', 'ortler-server')}` }),
  };
  const [backCore, frontCore] = values['own-core'] ? [0, 1] : [];
  if (frontCore !== undefined)
    execFileSync('taskset', ['-a', '-c', '-p', String(frontCore), String(process.pid)], { stdio: 'ignore' });
  const startBack = () => startServer({ flags, core: backCore });
  const backs = [await startBack(), await startBack()] as const;
  process.env.ORTLER_UPSTREAM_KEY = API_KEY;
  const frontOf = (servers: readonly StartedServer[]) =>
    startServer({
      flags: { models: `${MODEL}=${servers.map(({ url }) => `${url}/v1`).join(',')}` },
      core: frontCore,
    });
  const single = await frontOf([backs[0]]);
  const result = {
    request: await measureRequests(backs[0], single),
    streams: await measureStreams(backs[0], single),
  };
  await single.stop();
  const both = await frontOf(backs);
  const prefixes = await measurePrefixes(backs, both);
  for (const server of [both, ...backs]) await server.stop();
  return { ...result, prefixes };
}

/** Time of one chat of one token, each way in turn. Unit: milliseconds. */
async function measureRequests(direct: StartedServer, front: StartedServer) {
  const times: { direct: number; front: number }[] = [];
  const timed = async ({ url }: StartedServer, text: string): Promise<number> => {
    const startedAtMs = performance.now();
    await chat(url, [{ role: 'user', content: text }], { max_tokens: 1 });
    return performance.now() - startedAtMs;
  };
  let before = 0;
  // The first twenty only warm up.
  for (let count = -20; count < Number(values.requests); count++) {
    if (count === 0) before = processorMs(front.pid);
    const time = { direct: 0, front: 0 };
    const ways = [
      ['direct', direct],
      ['front', front],
    ] as const;
    for (const [name, server] of count % 2 === 0 ? ways : ways.toReversed())
      time[name] = await timed(server, `Question ${count} by the ${name} way.`);
    if (count >= 0) times.push(time);
  }
  const processorOfFrontMs = (processorMs(front.pid) - before) / times.length;
  return {
    directMs: rounded(median(times.map(time => time.direct))),
    frontMs: rounded(median(times.map(time => time.front))),
    addedMs: rounded(median(times.map(time => time.front - time.direct))),
    processorOfFrontMs: rounded(processorOfFrontMs),
  };
}

async function measureStreams(direct: StartedServer, front: StartedServer) {
  const [streamCount, tokenCount] = [Number(values.streams), Number(values.tokens)];
  const run = async ({ url }: StartedServer): Promise<number> => {
    const startedAtMs = performance.now();
    const body = { stream: true, max_tokens: tokenCount, ignore_eos: true, temperature: 0 };
    const texts = await Promise.all(
      Array.from({ length: streamCount }, async (_, index) => {
        const reply = await send(url, [{ role: 'user', content: `Stream ${index}` }], body);
        return reply.text();
      }),
    );
    for (const text of texts) if (!text.endsWith('[DONE]\n\n')) throw new Error(text.slice(-300));
    return (streamCount * tokenCount * 1000) / (performance.now() - startedAtMs);
  };
  const turns: { direct: number; front: number; frontMsPerToken: number }[] = [];
  // The first turn only warms up.
  for (let turn = -1; turn < Number(values.turns); turn++) {
    const isSwapped = turn % 2 === 0;
    const later = isSwapped ? await run(direct) : 0;
    const before = processorMs(front.pid);
    const passed = await run(front);
    const usedMs = processorMs(front.pid) - before;
    const own = isSwapped ? later : await run(direct);
    const found = { direct: own, front: passed, frontMsPerToken: usedMs / (streamCount * tokenCount) };
    console.error(JSON.stringify(found));
    if (turn >= 0) turns.push(found);
  }
  return {
    streamCount,
    tokenCount,
    directTokensPerSecond: rounded(median(turns.map(turn => turn.direct))),
    frontTokensPerSecond: rounded(median(turns.map(turn => turn.front))),
    lostShare: rounded(1 - median(turns.map(turn => turn.front / turn.direct))),
    frontMsPerToken: rounded(median(turns.map(turn => turn.frontMsPerToken))),
  };
}

/** Share of prompt tokens that the servers' prefix caches held: one server, two in turn, two by affinity. */
async function measurePrefixes(backs: readonly [StartedServer, StartedServer], front: StartedServer) {
  const one = await hitShare('one', backs, () => backs[0].url);
  let next = 0;
  const inTurn = await hitShare('two in turn', backs, () => backs[next++ % 2]!.url);
  const byAffinity = await hitShare('two by affinity', backs, () => front.url);
  return {
    conversations: Number(values.conversations),
    one: rounded(one),
    twoInTurn: rounded(inTurn),
    twoByAffinity: rounded(byAffinity),
    ofOne: rounded(byAffinity / one),
  };
}

async function hitShare(
  name: string,
  backs: readonly StartedServer[],
  choose: () => string,
): Promise<number> {
  const before = await countTokens(backs);
  let started = 0;
  const talk = async (): Promise<void> => {
    while (started < Number(values.conversations)) {
      const number = started++;
      const messages: Message[] = [];
      for (let turn = 0; turn < CONVERSATION_TURNS; turn++) {
        const content = `${name} ${number}, turn ${turn}: ${`tell me more about number ${number} `.repeat(6)}`;
        messages.push({ role: 'user', content });
        messages.push({ role: 'assistant', content: await chat(choose(), messages, { max_tokens: 8 }) });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, talk));
  const after = await countTokens(backs);
  const share = (after.hits - before.hits) / (after.queries - before.queries);
  console.error(JSON.stringify({ name, share }));
  return share;
}

async function countTokens(servers: readonly StartedServer[]) {
  let [hits, queries] = [0, 0];
  for (const { url } of servers) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const read = (what: string): number =>
      Number(new RegExp(`^vllm:prefix_cache_${what}_total\\{[^}]*\\} (\\d+)`, 'm').exec(text)![1]);
    hits += read('hits');
    queries += read('queries');
  }
  return { hits, queries };
}

async function chat(url: string, messages: readonly Message[], fields: object): Promise<string> {
  const reply = await send(url, messages, { temperature: 0, ...fields });
  const { choices } = (await reply.json()) as { choices: { message: { content: string } }[] };
  return choices[0]!.message.content;
}

async function send(url: string, messages: readonly Message[], fields: object): Promise<Response> {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages, ...fields }),
  });
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`);
  return reply;
}
