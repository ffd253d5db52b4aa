// What another team notices of a caller who does the worst a valid key allows: its chats, /v1/models and /health are answered while the
// attack goes on, and the memory of the server stays bounded. `npm run bench -- neighbours` measures the latencies.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { processorMs } from '../../bench/process-usage.ts';
import { ATTACKS, type AttackedServer, prepareAttack, startAttack } from '../../bench/server/attacks.ts';
import { createTeamKey } from '../../bench/server/team-key.ts';
import { createNeighbour, type Neighbour } from '../support/neighbour.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

/** Calls of the neighbour to each route while the attack goes on. */
const ROUNDS = 5;
/** Growth of the server's memory that no attack may exceed. It was 7 GB. Unit: MiB. */
const MEMORY_LIMIT_MIB = 1_200;
/** CPU time that is taken after the callers have left. Unit: milliseconds. */
const LEFT_WORK_LIMIT_MS = 1_000;
const IDLE_WINDOW_MS = 200;

let server: RunningServer;
let attacked: AttackedServer;
let neighbour: Neighbour;
let quietMiB: number;

beforeAll(async () => {
  server = await startTinyServer();
  const createKey = (team: string) => createTeamKey(join(server.folder, 'data'), server.url, team);
  attacked = { url: server.url, apiKey: await createKey('acme'), project: 'acme/app', baseModel: 'a' };
  neighbour = createNeighbour(server.url, await createKey('beta'));
  await neighbour.callAll();
  quietMiB = peakMiB();
}, 180_000);
afterAll(() => server?.dispose());

/** Largest resident memory of the server's process so far. */
function peakMiB(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))![1]) / 1024;
}

/**
 * Waits until the server and its models take less than a quarter of a core, and gives the CPU time that they took until then, because
 * a busy machine makes the wait longer. Unit: milliseconds.
 */
async function cpuUntilIdleMs(): Promise<number> {
  const pids = [server.child.pid!, ...server.modelPids()];
  const usedMs = () => pids.reduce((sum, pid) => sum + processorMs(pid), 0);
  const [fromMs, firstMs] = [performance.now(), usedMs()];
  for (let before = firstMs; performance.now() - fromMs < 30_000; ) {
    const windowMs = performance.now();
    await wait(IDLE_WINDOW_MS);
    const now = usedMs();
    if (now - before < (performance.now() - windowMs) / 4) return before - firstMs;
    before = now;
  }
  return Number.POSITIVE_INFINITY;
}

it.each(Object.entries(ATTACKS).map(([id, { title }]) => ({ id, title })))(
  '$id: $title leave a neighbour its answers',
  async ({ id }) => {
    const attack = ATTACKS[id]!;
    await prepareAttack(attack, attacked);
    const running = startAttack(id, attacked);
    await running.open;
    for (let round = 0; round < ROUNDS; round++) await neighbour.callAll();
    const { sentCount, statuses } = await running.stop();
    // Their connections are closed: what they asked for ends.
    expect(await cpuUntilIdleMs()).toBeLessThan(LEFT_WORK_LIMIT_MS);
    expect(sentCount).toBeGreaterThanOrEqual(attack.clients);
    for (const status of Object.keys(statuses)) expect(attack.statuses).toContain(Number(status));
    expect(peakMiB() - quietMiB).toBeLessThan(MEMORY_LIMIT_MIB);
    await neighbour.callAll();
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
