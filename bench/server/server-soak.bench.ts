// Soak of the real server: mixed requests of many clients, some of which leave, while model processes are killed. Fails unless every
// answer is the one that the same request got alone, everything acknowledged is stored, and at the end nothing is left: no request, no
// handle, no growth of memory.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { API_KEY, startServer } from '../start-server.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '2000' },
    clients: { type: 'string', default: '64' },
    'kill-seconds': { type: 'string', default: '30' },
    help: { type: 'boolean', default: false },
  },
});

const PROMPT_COUNT = 24;
const ABORT_SHARE = 0.05;
/** The first part of the run fills caches and starts threads; memory counts from its end on. */
const WARM_UP_SHARE = 0.4;
/** Growth of the process after that. V8 and the allocator keep some room. Unit: MiB. */
const GROWTH_LIMIT_MIB = 96;
/** Idle connections of the clients are closed by then. Unit: milliseconds. */
const CLOSED_AFTER_MS = 90_000;
const PROJECT = 'acme/soak';
const FIRST_ID = 'soak-first';

interface Reply {
  readonly status: number;
  readonly text: string;
}

type HandleCounts = Readonly<Record<string, number>>;

interface Kind {
  readonly name: string;
  readonly path: string;
  body(number: number): object;
  /** What must be the same each time. Throws: for an answer that is none. */
  resultOf(reply: string): unknown;
}

const chat = (number: number, fields: object) => ({
  messages: [{ role: 'user', content: `Tell me about number ${number % PROMPT_COUNT}.` }],
  max_tokens: 8 + (number % 5) * 8,
  temperature: 0,
  ...fields,
});
const contentOf = (text: string) => JSON.parse(text).choices[0].message.content as string;

const KINDS: readonly Kind[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    body: number => chat(number, {}),
    resultOf: contentOf,
  },
  {
    name: 'stream',
    path: '/v1/chat/completions',
    body: number => chat(number, { stream: true }),
    resultOf(text) {
      if (!text.endsWith('data: [DONE]\n\n')) throw new Error('a stream without its end');
      const chunks = text.split('\n\n').filter(line => line.startsWith('data: {'));
      return chunks.map(line => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '').join('');
    },
  },
  {
    name: 'structured',
    path: '/v1/chat/completions',
    body: number =>
      chat(number, { max_tokens: 40, structured_outputs: { choice: ['red', 'green', 'blue'] } }),
    resultOf: contentOf,
  },
  {
    name: 'completion',
    path: '/v1/completions',
    body: number => ({ prompt: `Number ${number % PROMPT_COUNT} is`, max_tokens: 12, temperature: 0 }),
    resultOf: text => JSON.parse(text).choices[0].text,
  },
  {
    name: 'tokenize',
    path: '/tokenize',
    body: number => ({ prompt: `Number ${number % PROMPT_COUNT} `.repeat(200) }),
    resultOf: text => JSON.parse(text).tokens,
  },
];

if (values.help) {
  console.log('npm run bench -- server-soak [--requests 2000] [--clients 64] [--kill-seconds 30; 0: none]');
} else {
  const result = await soak(Number(values.requests), Number(values.clients), Number(values['kill-seconds']));
  console.log(JSON.stringify({ bench: 'server-soak', ...result, machine: describeMachine() }, null, 2));
  if (result.problems.length > 0) process.exitCode = 1;
}

async function soak(requestCount: number, clientCount: number, killSeconds: number) {
  const { url, pid, stop } = await startServer({ flags: { 'log-level': 'silent' } });
  const problems: string[] = [];
  const note = (problem: string) => {
    if (problems.length < 20) problems.push(problem);
  };
  try {
    const expected = await readExpected(url);
    const counts: Record<string, number> = {};
    const count = (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    const acknowledged: string[] = [FIRST_ID];
    await startThreads(url);
    const handlesBefore = countHandles(pid);
    const memory: { readonly share: number; readonly mib: number }[] = [];
    let next = 0;
    let killCount = 0;
    let isOver = false;

    const killing = (async () => {
      while (killSeconds > 0) {
        await wait(killSeconds * 1_000);
        if (isOver) return;
        const [model] = childrenOf(pid);
        if (model === undefined) continue;
        process.kill(model, 'SIGKILL');
        killCount++;
      }
    })();
    const client = async () => {
      while (next < requestCount) {
        const number = next++;
        if (number % 100 === 0) memory.push({ share: number / requestCount, mib: residentMib(pid) });
        if (number % 10 === 0) {
          const id = `soak-${number}`;
          const { status } = await post(url, '/feedback/create', feedback(id));
          if (status === 200) acknowledged.push(id);
          count(`feedback ${status}`);
          continue;
        }
        const index = number % KINDS.length;
        const kind = KINDS[index]!;
        const body = kind.body(number);
        if (Math.random() < ABORT_SHARE) {
          await post(url, kind.path, body, AbortSignal.timeout(1 + Math.floor(Math.random() * 100))).catch(
            () => undefined,
          );
          count('left');
          continue;
        }
        const { status, text } = await post(url, kind.path, body);
        count(`${kind.name} ${status}`);
        if (status === 429 || status === 503) {
          await wait(200);
          continue;
        }
        // A stream that began before its process was killed ends with an error event.
        if (kind.name === 'stream' && text.includes('data: {"error"')) count('stream ended by a kill');
        else if (status !== 200) note(`${kind.name} ${status}: ${text.slice(0, 200)}`);
        else {
          const result = JSON.stringify(kind.resultOf(text));
          if (result !== expected.get(keyOf(index, number)))
            note(`${kind.name} ${number}: ${result.slice(0, 200)}`);
        }
      }
    };
    const startMs = performance.now();
    await Promise.all(Array.from({ length: clientCount }, client));
    const seconds = (performance.now() - startMs) / 1_000;
    isOver = true;

    await untilReady(url);
    await wait(1_000);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    for (const name of ['vllm:num_requests_running', 'vllm:num_requests_waiting'])
      for (const [line, value] of metrics.matchAll(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'gm')))
        if (Number(value) !== 0) note(`left over: ${line}`);
    const stored = await storedCount(url);
    if (stored < acknowledged.length) note(`${acknowledged.length - stored} acknowledged writes are gone`);
    const closedByMs = performance.now() + CLOSED_AFTER_MS;
    while (grownKinds(handlesBefore, countHandles(pid)).length > 0 && performance.now() < closedByMs)
      await wait(500);
    const handles = { before: handlesBefore, after: countHandles(pid) };
    for (const kind of grownKinds(handles.before, handles.after)) note(`handles: more of the kind ${kind}`);
    const late = memory.filter(({ share }) => share >= WARM_UP_SHARE).map(({ mib }) => mib);
    const middle = Math.ceil(late.length / 2);
    const growthMib = late.length < 4 ? 0 : median(late.slice(middle)) - median(late.slice(0, middle));
    if (growthMib > GROWTH_LIMIT_MIB) note(`memory grew by ${growthMib} MiB`);
    await Promise.race([killing, wait(0)]);
    return {
      requestCount,
      clientCount,
      seconds: Math.round(seconds),
      killCount,
      counts,
      stored,
      handles,
      memoryMib: { start: memory[0]?.mib, end: memory.at(-1)?.mib, growthMib: Math.round(growthMib) },
      problems,
    };
  } finally {
    await stop();
  }
}

function keyOf(kind: number, number: number): string {
  return `${kind} ${JSON.stringify(KINDS[kind]!.body(number))}`;
}

/** The answer of each request alone. */
async function readExpected(url: string): Promise<ReadonlyMap<string, string>> {
  const expected = new Map<string, string>();
  // Prompts, lengths and kinds repeat after so many.
  for (let number = 0; number < PROMPT_COUNT * KINDS.length * 5; number++) {
    const index = number % KINDS.length;
    const key = keyOf(index, number);
    if (expected.has(key)) continue;
    const kind = KINDS[index]!;
    const { status, text } = await post(url, kind.path, kind.body(number));
    if (status !== 200) throw new Error(`${kind.name} alone: ${status} ${text}`);
    expected.set(key, JSON.stringify(kind.resultOf(text)));
  }
  return expected;
}

function feedback(id: string): object {
  return {
    project_id: PROJECT,
    weave_ref: 'weave:///acme/soak/call/1',
    feedback_type: 'custom',
    id,
    payload: { id },
  };
}

/** Threads that read a database start when several queries run at once, and have a few handles each. */
async function startThreads(url: string): Promise<void> {
  await post(url, '/feedback/create', feedback(FIRST_ID));
  for (let turn = 0; turn < 4; turn++) await Promise.all(Array.from({ length: 16 }, () => storedCount(url)));
}

async function storedCount(url: string): Promise<number> {
  const query = { project_id: PROJECT, fields: ['COUNT(*)'] };
  const { text } = await post(url, '/feedback/query', query);
  return Number(Object.values(JSON.parse(text).result[0])[0]);
}

async function post(url: string, path: string, body: object, signal?: AbortSignal): Promise<Reply> {
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: path.startsWith('/feedback')
        ? `Basic ${Buffer.from(`api:${API_KEY}`).toString('base64')}`
        : `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
  return { status: reply.status, text: await reply.text() };
}

async function untilReady(url: string): Promise<void> {
  for (;;) {
    const { models } = (await (await fetch(`${url}/health`)).json()) as { models: { state: string }[] };
    if (models.every(({ state }) => state === 'ready')) return;
    await wait(100);
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Open handles by their kind: `socket`, `pipe`, `anon_inode:[eventpoll]`, or the path of a file. */
function countHandles(pid: number): HandleCounts {
  const counts: Record<string, number> = {};
  for (const handle of readdirSync(`/proc/${pid}/fd`)) {
    let target: string;
    try {
      target = readlinkSync(`/proc/${pid}/fd/${handle}`);
    } catch {
      // It was closed since the folder was read.
      continue;
    }
    const kind = target.replace(/:\[\d+\]$/, '');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Kinds of which there are more than before. */
function grownKinds(before: HandleCounts, after: HandleCounts): string[] {
  return Object.keys(after).filter(kind => after[kind]! > (before[kind] ?? 0));
}

function residentMib(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
}
