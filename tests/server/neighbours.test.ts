// What another team notices of a caller who does the worst a valid key allows: its chats, /v1/models and /health are answered while the
// attack goes on, and the memory of the server stays bounded. `npm run bench -- neighbours` measures the latencies.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ATTACKS, type AttackedServer, prepareAttack, startAttack } from '../../bench/server/attacks.ts';
import { createTeamKey } from '../../bench/server/team-key.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

/** Calls of the neighbour to each route while the attack goes on. */
const ROUNDS = 5;
/** Growth of the server's memory that no attack may exceed. It was 7 GB. Unit: MiB. */
const MEMORY_LIMIT_MIB = 1_200;

let server: RunningServer;
let attacked: AttackedServer;
let neighbour: string;
let quietMiB: number;

beforeAll(async () => {
  server = await startTinyServer();
  const createKey = (team: string) => createTeamKey(join(server.folder, 'data'), server.url, team);
  attacked = { url: server.url, apiKey: await createKey('acme'), project: 'acme/app', baseModel: 'a' };
  neighbour = await createKey('beta');
  await callAll();
  quietMiB = peakMiB();
}, 180_000);
afterAll(() => server?.dispose());

function get(path: string, key: string): Promise<Response> {
  return fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } });
}

function post(path: string, key: string, body: object): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** One call of the neighbour to each route; every one must be answered. */
async function callAll(): Promise<void> {
  const messages = [{ role: 'user', content: 'Count.' }];
  const template = '{{ messages[0].content }}!';
  for (const [path, reply] of [
    ['/health', get('/health', neighbour)],
    ['/v1/models', get('/v1/models', neighbour)],
    ['chat', post('/v1/chat/completions', neighbour, { messages, max_tokens: 2 })],
    ['template', post('/tokenize', neighbour, { messages, chat_template: template })],
  ] as const)
    expect([path, (await reply).status]).toEqual([path, 200]);
}

/** Largest resident memory of the server's process so far. */
function peakMiB(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))![1]) / 1024;
}

it.each(Object.entries(ATTACKS).map(([id, { title }]) => ({ id, title })))(
  '$id: $title leave a neighbour its answers',
  async ({ id }) => {
    const attack = ATTACKS[id]!;
    await prepareAttack(attack, attacked);
    const running = startAttack(id, attacked);
    await running.open;
    for (let round = 0; round < ROUNDS; round++) await callAll();
    const { sentCount, statuses } = await running.stop();
    expect(sentCount).toBeGreaterThanOrEqual(attack.clients);
    for (const status of Object.keys(statuses)) expect(attack.statuses).toContain(Number(status));
    expect(peakMiB() - quietMiB).toBeLessThan(MEMORY_LIMIT_MIB);
    await callAll();
    expect(server.child.exitCode).toBeNull();
  },
  240_000,
);

it('ends within its drain time after clients that never read', async () => {
  const own = await startServer({
    arguments: ['--models', `a=${join(server.folder, 'a')}`, '--api-key', 'neighbour-key'],
    env: { ORTLER_DRAIN_MS: '1000' },
  });
  try {
    const target = { url: own.url, apiKey: 'neighbour-key', project: 'acme/app', baseModel: 'a' };
    await prepareAttack(ATTACKS.H1!, target);
    const running = startAttack('H1', target);
    await running.open;
    own.child.kill('SIGTERM');
    expect(await own.exited).toBe(0);
    await running.stop();
  } finally {
    await own.dispose();
  }
}, 120_000);
