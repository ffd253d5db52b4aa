// What a running server does when a model's process dies, while it is busy, and when it receives a stop
// signal.

import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { runs } from 'test-runs';
import { afterEach, expect, it, vi } from 'vitest';
import { isAlive, makeServerFolder, type RunningServer, startServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

let server: RunningServer;
afterEach(() => server?.dispose());

/** Long enough for a busy machine; a wait ends as soon as its condition holds. */
const PATIENCE = { timeout: 30_000, interval: 10 };

const messages = [{ role: 'user', content: 'Hello!' }];
/** As long as the tiny model's context allows. */
const LONG = { messages, ignore_eos: true, max_tokens: 450 };

function post(body: object): Promise<Response> {
  return fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function health(): Promise<{ status: number; states: Record<string, string> }> {
  const reply = await fetch(`${server.url}/health`);
  const { models } = (await reply.json()) as { models: { id: string; state: string }[] };
  return { status: reply.status, states: Object.fromEntries(models.map(({ id, state }) => [id, state])) };
}

function callFeedback(path: string, body: object): Promise<Response> {
  return fetch(`${server.url}/feedback/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${server.apiKey}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ project_id: 'acme/app', ...body }),
  });
}

/** Whether a feedback item was stored. */
async function store(id: string): Promise<boolean> {
  const item = { weave_ref: 'weave:///acme/app/call/c', feedback_type: 'custom', id, payload: {} };
  return (await callFeedback('create', item)).ok;
}

async function countStored(): Promise<number> {
  const { result } = (await (await callFeedback('query', { fields: ['COUNT(*)'] })).json()) as {
    result: [Record<string, number>];
  };
  return Number(Object.values(result[0])[0]);
}

it('loses only the open requests of a model whose process is killed, reports it, and restarts it', async () => {
  server = await startTinyServer();
  const before = server.modelPids();
  expect(before).toHaveLength(2);
  const streamA = await post({ ...LONG, model: 'a', n: 8, stream: true });
  const readerA = streamA.body!.pipeThrough(new TextDecoderStream()).getReader();
  await readerA.read();

  // Which of the two processes runs model a is not known from outside: kill one and see which model suffers.
  process.kill(before[0]!, 'SIGKILL');
  await vi.waitFor(async () => expect(Object.values((await health()).states)).toContain('restarting'), {
    timeout: 5_000,
    interval: 5,
  });
  const { status, states } = await health();
  expect(status).toBe(200);
  const [killed] = Object.entries(states).find(([, state]) => state === 'restarting') ?? ['unknown'];
  expect((await post({ messages, model: killed === 'a' ? 'b' : 'a', max_tokens: 4 })).status).toBe(200);
  const refused = await post({ messages, model: killed, max_tokens: 4 });
  expect([200, 503]).toContain(refused.status);

  let text = '';
  for (let part = await readerA.read(); !part.done; part = await readerA.read()) text += part.value;
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(text.includes('"error"')).toBe(killed === 'a');

  await vi.waitFor(async () => expect((await health()).states).toEqual({ a: 'ready', b: 'ready' }), PATIENCE);
  expect((await post({ messages, model: killed, max_tokens: 4 })).status).toBe(200);
});

it.skipIf(process.platform === 'win32')(
  'ends a model process that hangs in a step, fails what it had open, and starts it again',
  async () => {
    server = await startTinyServer({ arguments: ['--step-timeout-ms', '2000'] });
    const before = server.modelPids();
    // A stopped process is as silent as one in a native call that never returns.
    for (const pid of before) process.kill(pid, 'SIGSTOP');
    const failed = await post({ messages, model: 'a', max_tokens: 4 });
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '1']);
    // Nobody has asked anything of the other one, so it is left alone.
    await vi.waitFor(() => expect(before.filter(isAlive)).toHaveLength(1), PATIENCE);
    process.kill(before.find(isAlive)!, 'SIGCONT');
    await vi.waitFor(
      async () => expect((await health()).states).toEqual({ a: 'ready', b: 'ready' }),
      PATIENCE,
    );
    expect((await post({ messages, model: 'a', max_tokens: 4 })).status).toBe(200);
  },
);

/** How often each fault of a model comes and goes. */
const ROUNDS = runs({ daily: 1, full: 2 });
/** Models of which one has the fault, in turns: the pause before a restart doubles with each fault that follows soon. */
const MODELS = Array.from({ length: Math.min(ROUNDS, 6) + 1 }, (_, index) => `m${index}`);
/** Steps take milliseconds; a model that waits long for a core must not count as hanging. */
const STEP_TIMEOUT_MS = 1_500;
/** With room for a request on a busy machine, beyond two seconds. Unit: milliseconds. */
const HEALTH_LIMIT_MS = 3_500;

it.skipIf(process.platform === 'win32').each([
  { fault: 'dies', signal: 'SIGKILL', noticedAfterMs: 0 },
  // It is noticed by the first request that waits for it.
  { fault: 'hangs', signal: 'SIGSTOP', noticedAfterMs: STEP_TIMEOUT_MS },
] as const)(
  'tells within two seconds that a model $fault, and answers and stores on beside it, time and again',
  async ({ signal, noticedAfterMs }) => {
    const folder = await makeServerFolder();
    await createTinyCheckpoint(join(folder, 'a'));
    const models = MODELS.map(name => `${name}=${join(folder, 'a')}`).join();
    const settings = ['--models', models, '--step-timeout-ms', String(STEP_TIMEOUT_MS)];
    server = await startServer({ folder, arguments: settings });
    const say = async (model: string) => {
      const reply = await post({ messages, model, max_tokens: 8, temperature: 0 });
      const text = await reply.text();
      if (reply.status === 200) return JSON.parse(text).choices[0].message.content as string;
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      return 'refused';
    };
    const expected = await say('m0');
    const answers = async (names: readonly string[]) => Promise.all(names.map(say));
    const statesOf = async () => Object.values((await health()).states).sort();
    const oneIsDown = ['ready', ...MODELS.slice(2).map(() => 'ready'), 'restarting'];
    for (let round = 0; round < ROUNDS; round++) {
      // The one that runs longest.
      process.kill(server.modelPids()[0]!, signal);
      const open = answers(MODELS);
      await vi.waitFor(async () => expect(await statesOf()).toEqual(oneIsDown), {
        timeout: HEALTH_LIMIT_MS + noticedAfterMs,
        interval: 5,
      });
      expect(await store(`round-${round}`)).toBe(true);
      expect((await open).toSorted()).toEqual([...MODELS.slice(1).map(() => expected), 'refused'].sort());
      await vi.waitFor(async () => expect(await statesOf()).toEqual(MODELS.map(() => 'ready')), PATIENCE);
      expect(new Set(await answers(MODELS))).toEqual(new Set([expected]));
    }
    expect(await countStored()).toBe(ROUNDS);
    expect(server.modelPids()).toHaveLength(MODELS.length);
  },
  300_000,
);

it('stops generating for a client that leaves, and frees what it used', async () => {
  server = await startTinyServer();
  const runningCount = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^vllm:num_requests_running\{model_name="a".*\} (\d+)$/m.exec(text)![1]);
  };
  const reply = await post({ ...LONG, n: 8, stream: true });
  await reply.body!.cancel();
  await vi.waitFor(async () => expect(await runningCount()).toBe(0), PATIENCE);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).toContain('finished_reason="abort"} 1');
});

it('answers /health quickly while a long generation runs', async () => {
  server = await startTinyServer();
  const long = post({ ...LONG, model: 'a', n: 8 });
  const times: number[] = [];
  let over = false;
  void long.then(() => {
    over = true;
  });
  while (!over && times.length < 200) {
    const start = performance.now();
    await health();
    times.push(performance.now() - start);
  }
  expect((await long).status).toBe(200);
  expect(times.length).toBeGreaterThan(10);
  const sorted = times.toSorted((a, b) => a - b);
  expect(sorted[Math.floor(times.length / 2)]).toBeLessThan(50);
});

it('lets open answers end after one signal and leaves no process behind', async () => {
  server = await startTinyServer();
  const pids = server.modelPids();
  const reply = await post({ ...LONG, max_tokens: 200, stream: true });
  server.child.kill('SIGTERM');
  const text = await reply.text();
  expect(text).toContain('"finish_reason":"length"');
  const endedMs = performance.now();
  expect(await server.exited).toBe(0);
  // The client keeps its connection open; that must not hold the server until the end of the time to drain.
  expect(performance.now() - endedMs).toBeLessThan(5_000);
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), PATIENCE);
});

it.skipIf(process.platform === 'win32')(
  'lets open answers end when the terminal is lost, which may be told twice',
  async () => {
    server = await startTinyServer();
    const reply = await post({ ...LONG, max_tokens: 200, stream: true });
    server.child.kill('SIGHUP');
    await vi.waitFor(() => expect(server.output()).toContain('Stopping'), PATIENCE);
    server.child.kill('SIGHUP');
    expect(await reply.text()).toContain('"finish_reason":"length"');
    expect(await server.exited).toBe(0);
  },
);

it('does not wait for connections that ask for nothing, as browsers open them', async () => {
  server = await startTinyServer();
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  const stoppedMs = performance.now();
  server.child.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  expect(performance.now() - stoppedMs).toBeLessThan(5_000);
});

it('ends open answers with an error when the time to drain is over', async () => {
  server = await startTinyServer({ arguments: ['--drain-ms', '0'] });
  const reply = await post({ ...LONG, n: 8, stream: true });
  server.child.kill('SIGTERM');
  const text = await reply.text();
  expect(text).toContain('The server is stopping.');
  expect(await server.exited).toBe(0);
});

it('ends at once after the second signal and leaves no process behind', async () => {
  server = await startTinyServer();
  const pids = server.modelPids();
  const reply = await post({ ...LONG, n: 8, stream: true });
  server.child.kill('SIGINT');
  await vi.waitFor(() => expect(server.output()).toContain('Stopping'), PATIENCE);
  server.child.kill('SIGINT');
  expect(await server.exited).toBe(130);
  await expect(reply.text()).rejects.toThrow();
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), PATIENCE);
});

it('makes a key on the first start only, and builds each model once', async () => {
  server = await startTinyServer();
  const { apiKey, folder } = server;
  expect(apiKey).toMatch(/^ortler-/);
  expect(server.output()).toContain('a: building');
  server.child.kill('SIGTERM');
  await server.exited;
  server = await startTinyServer({ folder });
  expect(server.apiKey).toBe('');
  expect(server.output()).not.toContain('building');
  const reply = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
  expect(reply.status).toBe(200);
});
