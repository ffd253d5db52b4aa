// What the reader of a log keeps in memory while it waits. Its rules are tested over HTTP, in apps/server.

import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { readTrajectoryLog } from './read-trajectory-log.ts';

/** Their objects take 40 bytes each, and their text three. */
const LISTS = `[${'[],'.repeat(500_000)}1]`;
const OBJECT_BYTES = 40 * 500_000;

/** What of the heap is in use. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await delay(5);
  collect();
  return process.memoryUsage().heapUsed;
}

/** How much more of the heap is in use when the last part of a body is asked for, and while the spool takes a record. */
async function heapGrowth(...parts: string[]): Promise<number> {
  const before = await heapBytes();
  let most = 0;
  const look = async () => {
    most = Math.max(most, await heapBytes());
  };
  async function* body() {
    for (const part of parts.slice(0, -1)) yield Buffer.from(part);
    await look();
    yield Buffer.from(parts.at(-1)!);
  }
  const spool = { addTrajectory: look, addGroup: look, dispose: async () => undefined };
  await readTrajectoryLog(body(), spool, { receivedAtMs: 0 });
  return most - before;
}

it('keeps no objects of a trajectory while the spool takes its record', async () => {
  const growth = await heapGrowth(
    `{"split":"a","trajectory_groups":[{"trajectories":[{"x":${LISTS}}`,
    ']}]}',
  );
  expect(growth).toBeLessThan(OBJECT_BYTES / 2);
});

it('keeps no values of a group besides its text', async () => {
  const growth = await heapGrowth(
    `{"split":"a","trajectory_groups":[{"metadata":${LISTS},"exceptions":${LISTS},`,
    '"trajectories":[]}]}',
  );
  expect(growth).toBeLessThan(OBJECT_BYTES);
});

it('keeps no values of properties of the body that it does not know', async () => {
  const growth = await heapGrowth(
    '{"split":"a",',
    `"first":${LISTS},`,
    `"second":${LISTS},`,
    '"trajectory_groups":[]}',
  );
  expect(growth).toBeLessThan(OBJECT_BYTES / 2);
});
