// The application over fake engines and real training stores, and short calls for the tests of its endpoints.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Services } from '@ortler/api';
import { createFakeServices } from '@ortler/api/testing';
import type { ValidationDetail } from '@ortler/schemas';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll } from 'vitest';
import type { Database } from '../src/db/database.ts';
import { createTrainingServices } from '../src/stores/training/training-services.ts';
import { DATABASE_HOOK_TIMEOUT_MS, type OpenTestDatabase } from './databases.ts';
import { AUTHORIZATION, openTestApp } from './open-test-app.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read many shapes, and a wrong access fails the test.
  readonly body: any;
  readonly text: string;
}

export interface TrainingApp {
  readonly app: FastifyInstance;
  readonly database: Database;
  /** Sends a body as JSON, or text as it is. */
  call(method: Method, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Makes a model and gives its id. */
  createModel(name?: string): Promise<string>;
  /** Makes checkpoints of steps 0 to `count - 1` and gives their ids. */
  addCheckpoints(modelId: string, count: number): Promise<string[]>;
  log(modelId: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  readonly checkpointDir: string;
  readonly training: Services['training'];
  /** Ends the threads that read large logs. */
  closeReaders(): Promise<void>;
  /** Leaves the database open. */
  close(): Promise<void>;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * Opens a database and the application over it for the tests of a `describe` block, and closes both afterwards. The returned
 * object has its members as soon as a test or a later hook runs.
 * @param clock As for `openTrainingApp`.
 */
export function useTrainingApp(open: OpenTestDatabase, clock?: { nowMs: number }): TrainingApp {
  const training = {} as TrainingApp;
  beforeAll(async () => {
    Object.assign(training, await openTrainingApp(await open(), clock));
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(async () => {
    await training.close();
    await training.database.close();
  }, DATABASE_HOOK_TIMEOUT_MS);
  return training;
}

/**
 * @param clock Time of the stores, in steps of one second. Unit: milliseconds since 1970.
 * @param toServices Services in the place of the fake ones.
 */
export async function openTrainingApp(
  database: Database,
  clock = { nowMs: 1_790_000_000_000 },
  toServices: (training: Services['training']) => Partial<Services> = () => ({}),
): Promise<TrainingApp> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-training-'));
  const checkpointDir = join(folder, 'checkpoints');
  await mkdir(checkpointDir);
  const now = () => clock.nowMs;
  const training = createTrainingServices(database, { dataDir: folder, checkpointDir, now });
  const { app } = await openTestApp({ ...createFakeServices(), now, training, ...toServices(training) });
  let modelCount = 0;

  const call: TrainingApp['call'] = async (method, path, body, headers = {}) => {
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await app.inject({
      method,
      url: `/v1/preview/models${path}`,
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers },
      ...(payload !== undefined && { payload }),
    });
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    const { statusCode: status, body: text } = response;
    return { status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
  };
  return {
    app,
    database,
    call,
    checkpointDir,
    training,
    async createModel(name = `model-${++modelCount}`) {
      const reply = await call('POST', '', { name, base_model: 'demo' });
      return String(reply.body.id);
    },
    async addCheckpoints(modelId, count) {
      const ids: string[] = [];
      for (let step = 0; step < count; step++)
        ids.push(String((await call('POST', `/${modelId}/checkpoints`, { step })).body.id));
      return ids;
    },
    log: (modelId, body, headers) => call('POST', `/${modelId}/log`, body, headers),
    closeReaders: () => training.close(),
    async close() {
      await app.close();
      await training.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** The faults of a reply, as `type at loc`. */
export function faultsOf({ body }: Reply): string[] {
  return (body.detail as ValidationDetail[]).map(({ type, loc }) => `${type} ${loc.join(',')}`);
}

/** A log body of one group with one trajectory. */
export function oneTrajectory(trajectory: unknown): unknown {
  return { split: 'train', trajectory_groups: [{ trajectories: [trajectory] }] };
}
