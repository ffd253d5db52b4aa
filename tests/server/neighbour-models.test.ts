// What one team does with its checkpoints, and what a build that fails means for all, beside another team's chats: disk that builds take,
// links to files of others, names and series in /metrics. Attacks by requests are in `neighbours.test.ts`.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTeamKey } from '../../bench/server/team-key.ts';
import { createNeighbour, type Neighbour } from '../support/neighbour.ts';
import { makeServerFolder, ORTLER, type RunningServer, startServer } from '../support/server.ts';
import { canMountDisk, mountDisk } from '../support/small-disk.ts';
import { startTinyServer } from '../support/tiny-server.ts';

const MIB = 2 ** 20;
/** Checkpoints in memory at once. */
const CAPACITY = 2;
/** Growth of the server's own process. Models have processes of their own. Unit: MiB. */
const MEMORY_LIMIT_MIB = 400;
const messages = [{ role: 'user', content: 'Hello!' }];

interface Reply {
  readonly status: number;
  readonly text: string;
}

function createCaller(url: string, apiKey: string) {
  return async (path: string, body?: object, method?: string): Promise<Reply> => {
    const reply = await fetch(url + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: reply.status, text: await reply.text() };
  };
}

describe('checkpoints of one team', () => {
  let server: RunningServer;
  let acme: ReturnType<typeof createCaller>;
  let beta: ReturnType<typeof createCaller>;
  let neighbour: Neighbour;

  const dataPath = (...names: readonly string[]) => join(server.folder, 'data', ...names);
  const register = (call: typeof acme, weights: string, model = 'clerk') =>
    call(`/v1/preview/models/${model}/checkpoints`, { weights: { path: weights } });
  const say = async (call: typeof acme, model: string) => {
    const reply = await call('/v1/chat/completions', { model, messages, max_tokens: 16, temperature: 0 });
    const content =
      reply.status === 200 ? (JSON.parse(reply.text).choices[0].message.content as string) : undefined;
    return { ...reply, content };
  };

  beforeAll(async () => {
    server = await startTinyServer({ arguments: ['--max-loaded-checkpoints', String(CAPACITY)] });
    const keyOf = (team: string) => createTeamKey(dataPath(), server.url, team);
    acme = createCaller(server.url, await keyOf('acme'));
    const betaKey = await keyOf('beta');
    beta = createCaller(server.url, betaKey);
    neighbour = createNeighbour(server.url, betaKey);
    for (const [call, team, seed] of [
      [acme, 'acme', 11],
      [beta, 'beta', 12],
    ] as const) {
      await createTinyCheckpoint(dataPath('checkpoints', team, 'own'), { seed });
      expect((await call('/v1/preview/models', { name: 'clerk', base_model: 'a' })).status).toBe(200);
      expect((await register(call, 'own')).status).toBe(200);
    }
  }, 120_000);
  afterAll(() => server?.dispose());

  /** Resident memory of the server's own process. */
  const residentMib = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))![1]) / 1024;

  it('take no more memory and disk than is set, and what was pruned is built again', async () => {
    const builds = async () =>
      (await readdir(dataPath('models'))).filter(name => /-[0-9a-f]{32}$/.test(name)).sort();
    const before = { builds: await builds(), mib: residentMib() };
    const answers: (string | undefined)[] = [];
    await neighbour.beside(
      (async () => {
        for (let step = 1; step <= 4; step++) {
          await createTinyCheckpoint(dataPath('checkpoints/acme', `run-${step}`), { seed: 20 + step });
          expect((await register(acme, `run-${step}`)).status).toBe(200);
          answers.push((await say(acme, `clerk:step${step}`)).content);
          expect(server.modelPids().length).toBeLessThanOrEqual(2 + CAPACITY);
        }
      })(),
    );
    expect(new Set(answers).size).toBe(4);
    expect(answers).not.toContain(undefined);
    expect(residentMib() - before.mib).toBeLessThan(MEMORY_LIMIT_MIB);
    const added = (await builds()).filter(name => !before.builds.includes(name));
    expect(added).toHaveLength(4);
    // A build counts as used for an hour; these were last used two days ago.
    const past = Date.now() / 1_000 - 2 * 86_400;
    for (const name of added) await utimes(dataPath('models', name), past, past);
    const prune = promisify(execFile)(process.execPath, [
      ...ORTLER,
      ...['models', 'prune', '--build-max-age-days', '1', '--data-dir', dataPath()],
    ]);
    expect((await neighbour.beside(prune)).stdout).toContain('Removed 4 built models');
    expect(await builds()).toEqual(before.builds);
    // Two of them are not in memory any more.
    expect((await neighbour.beside(say(acme, 'clerk:step1'))).content).toBe(answers[0]);
  }, 120_000);

  it('hold files of that team only, also where a link comes after the registration', async () => {
    const foreign = (await say(beta, 'clerk')).content;
    expect(foreign).toBeDefined();
    await mkdir(dataPath('checkpoints/acme/links'));
    const names = await readdir(dataPath('checkpoints/beta/own'));
    for (const name of names)
      await symlink(join('../../beta/own', name), dataPath('checkpoints/acme/links', name));
    expect((await register(acme, 'links')).status).toBe(422);

    const late = dataPath('checkpoints/acme/late');
    await createTinyCheckpoint(late, { seed: 13 });
    expect((await register(acme, 'late')).status).toBe(200);
    const weights = join(late, 'model.safetensors');
    await rename(weights, `${late}.kept`);
    await symlink('../../beta/own/model.safetensors', weights);
    const refused = await neighbour.beside(say(acme, 'clerk'));
    expect(refused.status).toBe(503);
    expect(refused.text).not.toContain('beta');
    await rm(weights);
    await rename(`${late}.kept`, weights);
    await vi.waitFor(async () => expect((await say(acme, 'clerk')).status).toBe(200), {
      timeout: 30_000,
      interval: 200,
    });
    expect((await say(acme, 'clerk')).content).not.toBe(foreign);
    expect((await say(beta, 'clerk')).content).toBe(foreign);
  }, 120_000);

  it('have no names in /metrics, which no page of another origin may read, and no series of their own', async () => {
    const read = () => fetch(`${server.url}/metrics`, { headers: { origin: 'http://page.example' } });
    const countSeries = (text: string) => text.split('\n').filter(line => line.includes('model_name')).length;
    expect((await acme('/v1/preview/models', { name: 'series', base_model: 'a' })).status).toBe(200);
    const answerSteps = async (first: number) => {
      for (const step of [first, first + 1]) {
        expect((await register(acme, 'own', 'series')).status).toBe(200);
        expect((await say(acme, `series:step${step}`)).status).toBe(200);
      }
    };
    await answerSteps(0);
    const before = countSeries(await (await read()).text());
    await answerSteps(2);
    const reply = await read();
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    const text = await reply.text();
    expect(text).toContain('model_name="checkpoints"');
    expect(text).not.toMatch(/acme|beta|clerk|series/);
    expect(countSeries(text)).toBe(before);
    await neighbour.callAll();
  }, 60_000);
});

describe.skipIf(!canMountDisk)(
  `a build that a full disk stopped${canMountDisk ? '' : ' (skipped: needs root, to mount a small disk)'}`,
  () => {
    let server: RunningServer | undefined;
    let unmount: (() => void) | undefined;
    afterEach(async () => {
      server?.child.kill('SIGKILL');
      await server?.exited;
      unmount?.();
      await server?.dispose();
    });

    it('is made once there is space, while another model answers', async () => {
      const folder = await makeServerFolder();
      const data = join(folder, 'data');
      await mkdir(data);
      unmount = mountDisk(data, '48m');
      const [a, b] = [join(folder, 'a'), join(folder, 'b')];
      await createTinyCheckpoint(a);
      // As large as half of the disk.
      await createTinyCheckpoint(b, { seed: 2, config: { num_hidden_layers: 64 } });
      const flags = ['--api-key', 'disk-key', '--low-disk', '0', '--precision', 'f32'];
      server = await startServer({ folder, arguments: ['--models', `a=${a}`, ...flags] });
      server.child.kill('SIGTERM');
      await server.exited;
      const filler = await open(join(data, 'filler'), 'w');
      await filler.write(Buffer.alloc(40 * MIB));
      await filler.close();
      server = await startServer({ folder, arguments: ['--models', `a=${a},b=${b}`, ...flags] });
      const neighbour = createNeighbour(server.url, 'disk-key');
      const stateOf = async () => {
        const report = (await (await fetch(`${server!.url}/health`)).json()) as {
          status: string;
          models: { state: string }[];
        };
        return [report.status, report.models[1]!.state];
      };
      expect(await neighbour.beside(stateOf())).toEqual(['degraded', 'restarting']);
      const call = createCaller(server.url, 'disk-key');
      const refused = await call('/v1/chat/completions', { model: 'b', messages, max_tokens: 1 });
      expect(refused.status).toBe(503);
      await rm(join(data, 'filler'));
      await neighbour.beside(
        vi.waitFor(async () => expect(await stateOf()).toEqual(['ok', 'ready']), {
          timeout: 60_000,
          interval: 100,
        }),
      );
      const answer = await call('/v1/chat/completions', { model: 'b', messages, max_tokens: 1 });
      expect(answer.status).toBe(200);
    }, 120_000);
  },
);
