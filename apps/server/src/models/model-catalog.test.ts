import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeEngine } from '@ortler/api/testing';
import { type Engine, EngineError, type WarmUpProgress } from '@ortler/engine';
import { HubError } from '@ortler/hub';
import { ModelBuildError } from '@ortler/model-builder';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CatalogEvent, createModelCatalog } from './model-catalog.ts';

/** What is waited for takes milliseconds; the limit only ends a test that waits in vain. */
const PATIENCE = { timeout: 20_000 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-catalog-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

const models = [
  { id: 'good', source: '/models/good' },
  { id: 'bad', source: '/models/bad' },
];

it('serves the models that load and reports the one that does not', async () => {
  const engine = createFakeEngine();
  const events: CatalogEvent[] = [];
  const catalog = await createModelCatalog({
    models,
    prepare: async path => {
      if (path === '/models/bad') throw new Error('no such folder');
      return `${path}-built`;
    },
    load: async () => engine,
    onEvent: event => events.push(event),
  });
  expect(catalog.list().map(({ status }) => status.kind)).toEqual(['loading', 'loading']);
  await catalog.loadAll();
  expect(catalog.defaultModelId).toBe('good');
  expect(catalog.find('good')?.status).toEqual({ kind: 'ready', engine });
  expect(catalog.find('bad')?.status).toEqual({ kind: 'failed', detail: 'no such folder' });
  expect(events.map(({ kind, modelId }) => `${modelId} ${kind}`).sort()).toEqual([
    'bad failed',
    'good ready',
  ]);
  await catalog.close();
  expect(engine.closed).toBe(true);
});

it('lists models of other servers among its own, and waits for their first reading', async () => {
  const calls: string[] = [];
  const upstream = {
    name: 'm',
    state: 'ready' as const,
    contextLength: 512,
    servers: [],
    postForJson: async () => '',
    postForEvents: async () => (async function* () {})(),
    withoutKey: (text: string) => text,
    start: async () => void calls.push('start'),
    close: () => void calls.push('close'),
  };
  const big = { id: 'big', urls: ['https://host/v1'], name: 'm' };
  const catalog = await createModelCatalog({
    models: [big, models[0]!],
    prepare: async path => path,
    load: async () => createFakeEngine(),
    connect: servers => {
      expect(servers).toBe(big);
      return upstream;
    },
  });
  expect(catalog.defaultModelId).toBe('big');
  expect(catalog.list().map(({ id, ownedBy }) => `${id} ${ownedBy}`)).toEqual([
    'big upstream',
    'good ortler',
  ]);
  expect(catalog.find('big')?.status).toEqual({ kind: 'upstream', upstream });
  await catalog.loadAll();
  await catalog.close();
  expect(calls).toEqual(['start', 'close']);
});

it('reports the progress of compiling a model for a GPU', async () => {
  const hold = Promise.withResolvers<Engine>();
  let warmUp: ((progress: WarmUpProgress) => void) | undefined;
  const catalog = await createModelCatalog({
    models: [{ id: 'a', source: '/a' }],
    prepare: async path => path,
    load: (_modelDir, _modelId, onWarmUp) => {
      warmUp = onWarmUp;
      return hold.promise;
    },
  });
  const loaded = catalog.loadAll();
  await vi.waitUntil(() => warmUp !== undefined, PATIENCE);
  warmUp?.({ doneCount: 2, totalCount: 7 });
  expect(catalog.find('a')?.status).toEqual({ kind: 'loading', detail: 'compiling for the device: 2 of 7' });
  hold.resolve(createFakeEngine());
  await loaded;
  warmUp?.({ doneCount: 0, totalCount: 7 });
  expect(catalog.find('a')?.status.kind).toBe('ready');
});

it('reports the progress of a build', async () => {
  const hold = Promise.withResolvers<string>();
  const catalog = await createModelCatalog({
    models: [{ id: 'a', source: '/a' }],
    prepare: (_path, { onProgress }) => {
      onProgress({ stage: 'weights', doneBytes: 250, totalBytes: 1_000 });
      return hold.promise;
    },
    load: async () => createFakeEngine(),
  });
  const loaded = catalog.loadAll();
  expect(catalog.find('a')?.status).toEqual({ kind: 'loading', detail: 'building, 25%' });
  hold.resolve('/built');
  await loaded;
  expect(catalog.find('a')?.status.kind).toBe('ready');
});

it('reports the progress of a download, and its notices', async () => {
  const hold = Promise.withResolvers<string>();
  const events: CatalogEvent[] = [];
  const catalog = await createModelCatalog({
    models: [{ id: 'a', source: 'org/model' }],
    prepare: (_source, { onProgress, onNotice }) => {
      onNotice('2.0 GB to download');
      onProgress({ stage: 'download', doneBytes: 500_000_000, totalBytes: 2_000_000_000 });
      return hold.promise;
    },
    load: async () => createFakeEngine(),
    onEvent: event => events.push(event),
  });
  const loaded = catalog.loadAll();
  expect(catalog.find('a')?.status).toEqual({ kind: 'loading', detail: 'downloading, 25% of 2.0 GB' });
  expect(events).toEqual([
    { kind: 'notice', modelId: 'a', message: '2.0 GB to download' },
    expect.objectContaining({ kind: 'preparing', modelId: 'a' }),
  ]);
  hold.resolve('/built');
  await loaded;
});

it('tries again when the Hub cannot be reached, and not when it has no such model', async () => {
  vi.useFakeTimers();
  const events: CatalogEvent[] = [];
  let tryCount = 0;
  const catalog = await createModelCatalog({
    models: [
      { id: 'a', source: 'org/model' },
      { id: 'b', source: 'org/nothing' },
    ],
    prepare: async source => {
      if (source === 'org/nothing') throw new HubError('repository_not_found', 'no such model');
      if (tryCount++ === 0) throw new HubError('unreachable', 'no connection');
      return folder;
    },
    load: async () => createFakeEngine(),
    onEvent: event => events.push(event),
  });
  await catalog.loadAll();
  expect(catalog.find('a')?.status).toMatchObject({ kind: 'restarting' });
  expect(catalog.find('b')?.status).toMatchObject({ kind: 'failed' });
  await vi.advanceTimersByTimeAsync(1_500);
  vi.useRealTimers();
  await vi.waitFor(() => expect(catalog.find('a')?.status.kind).toBe('ready'), PATIENCE);
  expect(tryCount).toBe(2);
  await catalog.close();
});

it.each([
  new ModelBuildError('write_failed', 'The disk is full.'),
  new ModelBuildError('source_unreadable', '/a may not be read by this user'),
  new HubError('no_space', 'The disk is full.'),
  Object.assign(new Error('The disk is full.'), { syscall: 'mkdir', code: 'ENOSPC' }),
])('builds again after a failure whose cause may have gone: %s', async error => {
  vi.useFakeTimers();
  let tryCount = 0;
  const catalog = await createModelCatalog({
    models: [{ id: 'a', source: '/a' }],
    prepare: async path => {
      if (tryCount++ < 2) throw error;
      return path;
    },
    load: async () => createFakeEngine(),
  });
  await catalog.loadAll();
  expect(catalog.find('a')?.status).toMatchObject({ kind: 'restarting', retryAfterMs: 1_000 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(catalog.find('a')?.status).toMatchObject({ kind: 'restarting', retryAfterMs: 2_000 });
  await vi.advanceTimersByTimeAsync(2_000);
  vi.useRealTimers();
  await vi.waitFor(() => expect(catalog.find('a')?.status.kind).toBe('ready'), PATIENCE);
  expect(tryCount).toBe(3);
  await catalog.close();
});

it('loads all models at the same time', async () => {
  let running = 0;
  let most = 0;
  const catalog = await createModelCatalog({
    models,
    prepare: async path => {
      most = Math.max(most, ++running);
      await new Promise(resolve => setTimeout(resolve, 5));
      running--;
      return path;
    },
    load: async () => createFakeEngine(),
  });
  await catalog.loadAll();
  expect(most).toBe(2);
});

it('stops a build and closes an engine that arrives late when it is closed', async () => {
  const engine = createFakeEngine();
  const late = Promise.withResolvers<typeof engine>();
  const catalog = await createModelCatalog({
    models,
    prepare: (path, _events, signal) =>
      path === '/models/good'
        ? Promise.resolve(path)
        : new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
    load: () => late.promise,
  });
  const loaded = catalog.loadAll();
  await new Promise(resolve => setImmediate(resolve));
  const closed = catalog.close();
  late.resolve(engine);
  await Promise.all([loaded, closed]);
  expect(engine.closed).toBe(true);
  expect(catalog.find('good')?.status.kind).toBe('loading');
});

it('gives a model the time of its configuration as creation time', async () => {
  await writeFile(join(folder, 'config.json'), '{}');
  await utimes(join(folder, 'config.json'), 1_700_000_000, 1_700_000_000);
  const catalog = await createModelCatalog({
    models: [{ id: 'a', source: folder }],
    prepare: async path => path,
    load: async () => createFakeEngine(),
  });
  expect(catalog.find('a')?.createdAtSeconds).toBe(1_700_000_000);
});

it('retries, after pauses that double, while the process of a model crashes as it loads', async () => {
  vi.useFakeTimers();
  const engine = createFakeEngine();
  const events: CatalogEvent[] = [];
  let loadCount = 0;
  let buildCount = 0;
  const catalog = await createModelCatalog({
    models: [{ id: 'a', source: '/a' }],
    prepare: async path => `${path}-built-${++buildCount}`,
    load: async () => {
      loadCount++;
      if (loadCount <= 3) throw new EngineError('engine_failed', "The model's process ended with SIGKILL.");
      return engine;
    },
    onEvent: event => events.push(event),
  });
  await catalog.loadAll();
  for (const [count, retryAfterMs] of [1_000, 2_000, 4_000].entries()) {
    expect(catalog.find('a')?.status).toMatchObject({ kind: 'restarting', retryAfterMs });
    expect(events.at(-1)).toMatchObject({ kind: 'failed', modelId: 'a', retryAfterMs });
    await vi.advanceTimersByTimeAsync(retryAfterMs - 1);
    expect(loadCount).toBe(count + 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(loadCount).toBe(count + 2);
  }
  expect(catalog.find('a')?.status).toEqual({ kind: 'ready', engine });
  expect(events.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'failed', 'ready']);
  expect(buildCount).toBe(1);
  await catalog.close();
  expect(engine.closed).toBe(true);
});

it.each([
  new EngineError('model_invalid', 'The folder /a has no ortler-model.json.'),
  new Error('a fault of ours'),
])('tries what cannot be mended once only: %s', async error => {
  vi.useFakeTimers();
  const events: CatalogEvent[] = [];
  const load = vi.fn(() => Promise.reject(error));
  const catalog = await createModelCatalog({
    models: [{ id: 'a', source: '/a' }],
    prepare: async path => path,
    load,
    onEvent: event => events.push(event),
  });
  await catalog.loadAll();
  expect(catalog.find('a')?.status).toEqual({ kind: 'failed', detail: error.message });
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(load).toHaveBeenCalledTimes(1);
  expect(events).toEqual([{ kind: 'failed', modelId: 'a', error }]);
});

it('stops retrying when it is closed', async () => {
  vi.useFakeTimers();
  const load = vi.fn(() => Promise.reject(new EngineError('engine_failed', 'The process ended.')));
  const catalog = await createModelCatalog({
    models: [{ id: 'a', source: '/a' }],
    prepare: async path => path,
    load,
  });
  await catalog.loadAll();
  await catalog.close();
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(load).toHaveBeenCalledTimes(1);
});
