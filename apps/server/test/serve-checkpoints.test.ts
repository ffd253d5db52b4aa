// Checkpoints as models with everything real but the store: adapters are built, engines run in their own processes, and
// clients speak HTTP.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServableCheckpoint } from '@ortler/api';
import { createFakeServices } from '@ortler/api/testing';
import { createTinyCheckpoint, writeAdapter } from '@ortler/model-builder/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import type { CatalogEvent } from '../src/models/model-catalog.ts';
import { createServerModels, type ServerModels } from '../src/models/server-models.ts';
import { AUTHORIZATION, openTestApp, type TestApp } from './open-test-app.ts';

let folder: string;
let models: ServerModels;
let test: TestApp;
let checkpoints: ServableCheckpoint[];
const events: CatalogEvent[] = [];
const unloaded: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-checkpoints-'));
  await createTinyCheckpoint(join(folder, 'base'));
  await createTinyCheckpoint(join(folder, 'full'), { modelType: 'qwen3', seed: 5 });
  // Every rank-one product adds to the first element of the stream, so the answers change.
  const target = 'base_model.model.model.layers.1.mlp.down_proj';
  const fill = (values: Float32Array) => void values.fill(0.5);
  await writeAdapter(join(folder, 'adapter'), { r: 1, lora_alpha: 8, target_modules: ['down_proj'] }, [
    { name: `${target}.lora_A.weight`, shape: [1, 128], fill },
    {
      name: `${target}.lora_B.weight`,
      shape: [64, 1],
      fill: (values, start) =>
        void values.forEach((_, i) => {
          values[i] = ((start + i) % 3) - 1;
        }),
    },
  ]);
  const config = readConfig({
    ORTLER_DATA_DIR: join(folder, 'data'),
    ORTLER_MODELS: `base=${join(folder, 'base')}`,
    ORTLER_THREADS: '1',
    ORTLER_MAX_LOADED_CHECKPOINTS: '1',
  });
  models = await createServerModels({
    config,
    checkpoints: {
      listServable: async () => checkpoints.toSorted((a, b) => b.step - a.step),
      findServable: async ({ name }, step) =>
        checkpoints
          .filter(found => found.modelName === name && (step === null || found.step === step))
          .toSorted((a, b) => b.step - a.step)[0] ?? null,
    },
    onEvent: event => events.push(event),
    onDevice: () => undefined,
    onStopped: () => undefined,
    onUpstreamFault: () => undefined,
    onUnloaded: id => unloaded.push(id),
  });
  const { catalog, checkpointModels } = models;
  await catalog.loadAll();
  test = await openTestApp({ ...createFakeServices(), models: catalog, checkpointModels });
}, 60_000);
afterAll(async () => {
  await test.app.close();
  await models.close();
  await rm(folder, { recursive: true });
}, 60_000);

function checkpoint(
  step: number,
  kind: 'full' | 'lora',
  path: string,
  baseModel = 'base',
): ServableCheckpoint {
  return {
    checkpointId: `00000000-0000-4000-8000-00000000000${step}`,
    modelId: 'model-1',
    modelName: 'clerk',
    step,
    baseModel,
    weights: { kind, path: join(folder, path) },
    createdAtMs: 1_750_000_000_000 + step,
  };
}

beforeEach(() => {
  checkpoints = [checkpoint(1, 'lora', 'adapter'), checkpoint(2, 'full', 'full')];
});

async function ask(model: string) {
  const response = await test.post({
    model,
    messages: [{ role: 'user', content: 'Hello' }],
    temperature: 0,
    max_tokens: 8,
  });
  return { response, body: response.json() };
}

const textOf = (body: { choices: { message: { content: string } }[] }) => body.choices[0]!.message.content;

it('lists the checkpoints after the configured models, the newest of each model by its bare name', async () => {
  const response = await test.app.inject({ url: '/v1/models', headers: { authorization: AUTHORIZATION } });
  const data: { id: string; root: string; created: number }[] = response.json().data;
  expect(data.map(({ id, root }) => [id, root])).toEqual([
    ['base', 'base'],
    ['clerk', 'clerk:step2'],
    ['clerk:step2', 'base'],
    ['clerk:step1', 'base'],
  ]);
  expect(data[1]!.created).toBe(1_750_000_000);
});

describe('a chat', () => {
  it('with an adapter answers differently from its base, which is unchanged', async () => {
    const before = await ask('base');
    const adapted = await ask('clerk:step1');
    expect(adapted.response.statusCode).toBe(200);
    expect(adapted.body.model).toBe('clerk:step1');
    expect(textOf(adapted.body)).not.toBe(textOf(before.body));
    expect(textOf((await ask('base')).body)).toBe(textOf(before.body));
    expect(textOf((await ask('clerk:step1')).body)).toBe(textOf(adapted.body));
  }, 60_000);

  it('by the bare name is answered by the newest, which evicts another checkpoint', async () => {
    await ask('clerk:step1');
    const { response, body } = await ask('clerk');
    expect(response.statusCode).toBe(200);
    expect(body.model).toBe('clerk:step2');
    expect(models.loadedCheckpoints.list().map(({ name }) => name)).toEqual(['clerk:step2']);
    expect(unloaded.at(-1)).toBe('clerk:step1');
  }, 60_000);

  it('with several at once loads a checkpoint once', async () => {
    await ask('clerk:step2');
    const readyCount = () =>
      events.filter(({ kind, modelId }) => kind === 'ready' && modelId === 'clerk:step1').length;
    const before = readyCount();
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask('clerk:step1')));
    expect(new Set(answers.map(({ body }) => textOf(body))).size).toBe(1);
    expect(readyCount()).toBe(before + 1);
  }, 60_000);

  it('loads a checkpoint again after it was unloaded', async () => {
    await ask('clerk:step1');
    const unload = () =>
      test.app.inject({
        method: 'POST',
        url: '/v1/models/unload',
        headers: { authorization: AUTHORIZATION },
        payload: { model: 'clerk:step1' },
      });
    expect((await unload()).json()).toEqual({ id: 'clerk:step1', object: 'model.load', state: 'unloading' });
    await expect.poll(() => models.loadedCheckpoints.list()).toEqual([]);
    expect((await unload()).statusCode).toBe(200);
    expect((await ask('clerk:step1')).response.statusCode).toBe(200);
  }, 60_000);

  it('is not answered by a deleted checkpoint, which is unloaded', async () => {
    await ask('clerk:step1');
    checkpoints = [];
    const { response, body } = await ask('clerk:step1');
    expect(response.statusCode).toBe(404);
    expect(body.error.message).toContain('clerk:step1 does not exist');
    await expect.poll(() => models.loadedCheckpoints.list()).toEqual([]);
  }, 60_000);

  it.each([
    [
      'whose base model is not here',
      checkpoint.bind(null, 3, 'lora', 'adapter', 'elsewhere'),
      'the base model elsewhere',
    ],
    ['whose weights are gone', checkpoint.bind(null, 4, 'full', 'gone'), 'gone'],
  ])(
    'with a checkpoint %s says so in the log, and to the client without a path',
    async (_rule, make, reason) => {
      checkpoints = [make()];
      const { response, body } = await ask('clerk');
      expect(response.statusCode).toBe(503);
      expect(response.headers['retry-after']).toBe('1');
      expect(body.error.message).toMatch(/^The model clerk:step\d could not be loaded\.$/);
      const failed = events.findLast(event => event.kind === 'failed');
      expect(String(failed?.kind === 'failed' && failed.error)).toContain(reason);
    },
    60_000,
  );
});
